// What a person is asked, as the page shows it: who asks, for which workspace, and for each right whether it is theirs to give.
import type { Principal } from '../../http/principal.ts';
import { guardedClasses, type GuardedClass } from '../../lib/guarded.ts';
import type { Seat, SignedIn } from '../../identity/sessions/sessions.ts';
import { consentSentenceOf } from '../../rights/words.ts';
import { isVerifiedIn, type OAuthClient } from '../clients/client.ts';
import type { Asking } from '../engine/engine.ts';

interface AskedScope {
  readonly scope: string;
  readonly sentence: string;
  /** Whether the role of the member has it, so that they can give it. */
  readonly isHeld: boolean;
}

interface GuardedChoice {
  readonly word: GuardedClass;
  readonly sentence: string;
  /** Whether the workspace demands it, whatever the member says. */
  readonly isFixed: boolean;
}

export interface ConsentView {
  readonly client: OAuthClient;
  readonly isVerified: boolean;
  /** Host, or the scheme of an app on the device; null where a code was typed in. */
  readonly leadsTo: string | null;
  readonly who: SignedIn;
  readonly seat: Seat;
  readonly asking: Asking;
  readonly scopes: readonly AskedScope[];
  /** Empty for what acts by the REST API, where nothing is guarded. */
  readonly guarded: readonly GuardedChoice[];
}

const guardSentences: Readonly<Record<GuardedClass, string>> = {
  delete: 'deletes anything',
  bulk: 'changes many objects at once',
  finish: 'sets an issue done or canceled',
  others: 'changes what it did not make itself',
};

export function consentView(options: {
  asking: Asking;
  client: OAuthClient;
  who: SignedIn;
  seat: Seat;
  principal: Principal;
  demanded: readonly GuardedClass[];
}): ConsentView {
  const { asking, client, who, seat, principal, demanded } = options;
  return {
    ...{ asking, client, who, seat },
    isVerified: isVerifiedIn(client, seat.workspaceId),
    leadsTo: asking.redirectUri === null ? null : placeOf(asking.redirectUri),
    scopes: asking.scopes.map((scope) => ({
      scope,
      sentence: consentSentenceOf(scope),
      isHeld: principal.scopes.has(scope) || (principal.narrowed?.has(scope) ?? false),
    })),
    guarded:
      asking.resource === 'api'
        ? []
        : guardedClasses.map((word) => ({
            word,
            sentence: guardSentences[word],
            isFixed: demanded.includes(word),
          })),
  };
}

/** As a person can recognise it: `app.example.com`, `127.0.0.1`, `com.example.app`. */
function placeOf(redirectUri: string): string {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? hostname : protocol.slice(0, -1);
}

/** What a form of a page may lead to, for its policy (CSP 3 §6.4.1): policies know no IPv6 addresses. */
export function policySourceOf(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb && !hostname.startsWith('[') ? origin : protocol;
}
