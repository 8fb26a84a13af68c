import type { Principal } from '../../../kernel/http/principal.ts';
import { guardedClasses, type GuardedClass } from '../../../platform/lib/guarded-classes.ts';
import type { Seat, SignedIn } from '../../sign-in/index.ts';
import { consentSentenceOf } from '../../../kernel/rights/table.ts';
import { isVerifiedIn, type OAuthClient } from '../clients/client.ts';
import type { Asking } from '../engine/engine.ts';

interface RequestedScope {
  readonly scope: string;
  readonly sentence: string;
  /** True if the member has the scope and can grant it. */
  readonly isGrantable: boolean;
}

interface GuardedChoice {
  readonly word: GuardedClass;
  readonly sentence: string;
  /** True if the workspace requires approval for the class, so that the member cannot deselect it. */
  readonly isFixed: boolean;
}

export interface ConsentView {
  readonly client: OAuthClient;
  readonly isVerified: boolean;
  /** Host name or private-use scheme of the redirect URI; null for the device flow. */
  readonly leadsTo: string | null;
  readonly who: SignedIn;
  readonly seat: Seat;
  readonly asking: Asking;
  readonly scopes: readonly RequestedScope[];
  /** Empty for the REST API, which has no guarded actions. */
  readonly guarded: readonly GuardedChoice[];
}

const guardSentences: Readonly<Record<GuardedClass, string>> = {
  delete: 'deletes anything',
  bulk: 'changes several issues at once',
  finish: 'completes or cancels an issue',
  others: 'changes an issue that it did not create',
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
    asking,
    client,
    who,
    seat,
    isVerified: isVerifiedIn(client, seat.workspaceId),
    leadsTo: asking.redirectUri === null ? null : displayHost(asking.redirectUri),
    scopes: asking.scopes.map((scope) => ({
      scope,
      sentence: consentSentenceOf(scope),
      isGrantable: principal.scopes.has(scope) || (principal.narrowed?.has(scope) ?? false),
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

/**
 * Returns the part of a redirect URI that people recognize: `app.example.com`, `127.0.0.1`,
 * `com.example.app`.
 */
function displayHost(redirectUri: string): string {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? hostname : protocol.slice(0, -1);
}

/**
 * Returns the CSP source for the redirect of the form (CSP Level 3 §6.4.1): the origin, or the scheme for
 * IPv6 hosts, which CSP cannot express.
 */
export function policySourceOf(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb && !hostname.startsWith('[') ? origin : protocol;
}
