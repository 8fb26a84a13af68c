// Routes of forms that change an account. They require a form of the current session, and sensitive changes
// also a recent authentication.
import type { IdentityDeps } from '../../people/index.ts';
import type { RawAnswer, Route } from '../../../kernel/http/route.ts';
import { isFresh, leadTo, leadToProof, leadToSignIn, pageRoute, readSignedForm } from '../page-parts.ts';
import type { Sessions, SignedIn } from '../sessions.ts';

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
 * Returns the route of a form on the account page.
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
    if (who.seats.length === 0) return leadTo(baseUrl, '/account');
    if (isSensitive && !isFresh(who, nowMs())) return leadToProof(baseUrl, '/account');
    const came = await work(who, form, request);
    if ('contentType' in came) return came;
    return leadTo(baseUrl, `/account?${new URLSearchParams({ ...came }).toString()}`);
  });
}

/** Keys of `AccountSection.says`. */
export type SectionOutcome = { readonly done: string } | { readonly wrong: string };

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
