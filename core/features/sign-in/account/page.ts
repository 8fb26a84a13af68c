// The account page, assembled from the sections of other modules, and the routes of its forms.
import { html, type Html, page } from '../../../kernel/html.ts';
import type { RawAnswer, RawRequest, Route } from '../../../kernel/http/route.ts';
import type { IdentityDeps } from '../../people/index.ts';
import {
  done,
  hidden,
  leadToSignIn,
  pageRoute,
  problem,
  scriptOf,
  isFresh,
  leadTo,
  leadToProof,
  readSignedForm,
} from '../page-parts.ts';
import type { Sessions, SignedIn } from '../sessions.ts';

/**
 * The forms of a section post to the section's own routes, which redirect to `/account?done=…` or `?wrong=…`.
 */
export interface AccountSection {
  /** Path of the script that the section needs. */
  readonly script?: string;
  html(who: SignedIn, request: RawRequest): Promise<Html>;
  /** Messages for the top of the page, by the value of `done` or `wrong`. */
  readonly says?: Readonly<Record<string, string>>;
}

/** @param sections in the order of the page */
export function accountRoutes(
  { services, sessions }: ChangeOptions,
  sections: readonly AccountSection[],
): Route[] {
  const says = new Map(sections.flatMap((section) => Object.entries(section.says ?? {})));
  return [
    pageRoute(
      { method: 'GET', path: '/account', name: 'account.page', summary: 'Show the account page' },
      async (request) => {
        const who = await sessions.find(request.headers);
        if (!who) return leadToSignIn(services.baseUrl, '/account');
        if (who.memberships.length === 0) return noMembership(who);
        const word = (name: string) => says.get(request.query.get(name) ?? '');
        const [good, bad] = [word('done'), word('wrong')];
        const parts = await Promise.all(sections.map((section) => section.html(who, request)));
        return page(
          'Your account',
          html`<h1>Your account</h1>
            ${good && done(good)} ${bad && problem(bad)} ${parts}`,
          { person: who, ...scriptOf(sections) },
        );
      },
    ),
  ];
}

/** Page for a signed-in person who is not a member of any workspace. Workspaces are created by operators only. */
export function noMembership(who: SignedIn): RawAnswer {
  return page(
    'No workspace',
    html`<div class="card">
      <h1>No workspace</h1>
      <p>
        You are signed in as ${who.name} (${who.email}), but you are not a member of any workspace on this
        server. You were removed, or have not joined one yet.
      </p>
      <p>Ask an admin of the workspace for an invitation, and open its link in this browser.</p>
      <p>
        To get a workspace of your own, ask the operator of this server, who creates workspaces with
        <code>tatami init --add</code>.
      </p>
      <p>If you have another account here, sign out and sign in with that one.</p>
      <form method="post" action="/sign-out">
        ${hidden('form_token', who.formToken)}<button>Sign out</button>
      </form>
    </div>`,
    { person: who, status: 403 },
  );
}

export interface ChangeOptions {
  readonly services: IdentityDeps;
  readonly sessions: Sessions;
}

interface Change {
  /** Path after `/account/`. */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  /** True to require an authentication within the last `proofMs`. */
  readonly isSensitive?: boolean;
}

/**
 * Returns the route of a form on the account page. It requires a form of the current session, and a sensitive
 * change also a recent authentication.
 * @param work returns the key of the message to show (`AccountSection.says`), or a complete response
 */
export function changeRoute(
  { services, sessions }: ChangeOptions,
  { path, name, summary, isSensitive = false }: Change,
  work: (
    who: SignedIn,
    form: URLSearchParams,
    request: Parameters<Parameters<typeof pageRoute>[1]>[0],
  ) => Promise<SectionOutcome | RawAnswer>,
): Route {
  const { baseUrl, nowMs } = services;
  return pageRoute({ method: 'POST', path: `/account/${path}`, name, summary }, async (request) => {
    const who = await sessions.find(request.headers);
    if (!who) return leadToSignIn(baseUrl, '/account');
    const form = await readSignedForm(request, baseUrl, who);
    // A person without a workspace has nothing to change; the account page explains why.
    if (who.memberships.length === 0) return leadTo(baseUrl, '/account');
    if (isSensitive && !isFresh(who, nowMs())) return leadToProof(baseUrl, '/account');
    const came = await work(who, form, request);
    if ('contentType' in came) return came;
    return leadTo(baseUrl, `/account?${new URLSearchParams({ ...came }).toString()}`);
  });
}

/** Keys of `AccountSection.says`. */
type SectionOutcome = { readonly done: string } | { readonly wrong: string };

/**
 * Mails a person when their sign-in methods change, so that they notice changes by somebody else (OWASP ASVS 5.0
 * §6.3.7).
 * @param to address of the account before the change
 * @param what a sentence such as `The password was changed.`
 */
export function noticeOf({ mail, baseUrl }: IdentityDeps, to: string, what: string): void {
  mail?.post({
    to,
    subject: 'Your account was changed',
    text: [
      `Your account on ${baseUrl} was changed. ${what}`,
      `If you did not make this change, reset your password now: ${baseUrl}/reset. If you cannot, contact your administrator.`,
    ].join('\n\n'),
  });
}
