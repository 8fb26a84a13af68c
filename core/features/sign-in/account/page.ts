// The account page, assembled from the sections of other modules.
import { html, type Html, page } from '../../../kernel/html.ts';
import type { RawAnswer, Route } from '../../../kernel/http/route.ts';
import type { IdentityDeps } from '../../people/index.ts';
import { done, hidden, leadToSignIn, pageRoute, problem, scriptOf } from '../page-parts.ts';
import type { Sessions, SignedIn } from '../sessions.ts';

/**
 * The forms of a section post to the section's own routes, which redirect to `/account?done=…` or `?wrong=…`.
 */
export interface AccountSection {
  /** Path of the script that the section needs. */
  readonly script?: string;
  html(who: SignedIn): Promise<Html>;
  /** Messages for the top of the page, by the value of `done` or `wrong`. */
  readonly says?: Readonly<Record<string, string>>;
}

interface AccountPages {
  readonly services: IdentityDeps;
  readonly sessions: Sessions;
  /** In the order of the page. */
  readonly sections: readonly AccountSection[];
}

export function accountRoutes(options: AccountPages): Route[] {
  const { services, sessions, sections } = options;
  const says = new Map(sections.flatMap((section) => Object.entries(section.says ?? {})));
  return [
    pageRoute(
      { method: 'GET', path: '/account', name: 'account.page', summary: 'Show the account page' },
      async ({ headers, query }) => {
        const who = await sessions.find(headers);
        if (!who) return leadToSignIn(services.baseUrl, '/account');
        if (who.seats.length === 0) return noSeat(who);
        const word = (name: string) => says.get(query.get(name) ?? '');
        const [good, bad] = [word('done'), word('wrong')];
        const parts = await Promise.all(sections.map((section) => section.html(who)));
        return page(
          'Your account',
          html`<h1>Your account</h1>
            ${good && done(good)} ${bad && problem(bad)} ${parts}`,
          { nav: navOf(who), ...scriptOf(sections) },
        );
      },
    ),
  ];
}

function navOf(who: SignedIn): Html {
  return html`<nav class="top" aria-label="Account">
    <a href="/">Tatami</a>
    ${signOut(who)}
  </nav>`;
}

const signOut = ({ formToken }: SignedIn): Html =>
  html`<form method="post" action="/sign-out">
    ${hidden('form_token', formToken)}<button class="plain">Sign out</button>
  </form>`;

/** Page for a signed-in person who is not a member of any workspace. */
function noSeat(who: SignedIn): RawAnswer {
  return page(
    'No workspace',
    html`<div class="card">
      <h1>No workspace</h1>
      <p>
        You are signed in as ${who.name} (${who.email}), but you are not a member of any workspace on this
        server. You were removed, or have not joined one yet.
      </p>
      <p>Ask an admin of the workspace for an invitation, and open its link in this browser.</p>
      ${signOut(who)}
    </div>`,
    { status: 403 },
  );
}
