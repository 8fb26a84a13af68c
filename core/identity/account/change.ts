// What the changes of an account share: a form of the session itself, and for the sensitive ones a proof that is not old.
import type { Services } from '../../context.ts';
import type { RawAnswer, Route } from '../../http/route.ts';
import { isFresh, leadTo, leadToProof, leadToSignIn, pageRoute, readSignedForm } from '../pages.ts';
import type { Sessions, SignedIn } from '../sessions/sessions.ts';

export interface ChangeOptions {
  readonly services: Pick<Services, 'store' | 'mail' | 'baseUrl' | 'nowMs'>;
  readonly sessions: Sessions;
}

interface Change {
  /** After `/account/`. */
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  /** It asks for a proof of who sends it, not older than `proofMs`. */
  readonly isSensitive?: boolean;
}

/**
 * A form of the account page.
 * @param work answers the word that the page is to say of it (`AccountSection.says`), or an answer of its own
 */
export function changeRoute(
  { services, sessions }: ChangeOptions,
  { path, name, summary, isSensitive = false }: Change,
  work: (
    who: SignedIn,
    form: URLSearchParams,
    arrival: Parameters<Parameters<typeof pageRoute>[1]>[0],
  ) => Promise<Said | RawAnswer>,
): Route {
  const { baseUrl, nowMs } = services;
  return pageRoute({ method: 'POST', path: `/account/${path}`, name, summary }, async (arrival) => {
    const who = await sessions.find(arrival.headers);
    if (!who) return leadToSignIn(baseUrl, '/account');
    const form = await readSignedForm(arrival, baseUrl, who);
    // Who is a member of nothing any more is told so there.
    if (who.seats.length === 0) return leadTo(baseUrl, '/account');
    if (isSensitive && !isFresh(who, nowMs())) return leadToProof(baseUrl, '/account');
    const came = await work(who, form, arrival);
    if ('contentType' in came) return came;
    return leadTo(baseUrl, `/account?${new URLSearchParams({ ...came }).toString()}`);
  });
}

/** Words of a section's `says`. */
export type Said = { readonly done: string } | { readonly wrong: string };
