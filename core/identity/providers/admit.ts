// How a newcomer comes in by an outside provider: by an invitation, whose link they opened in this browser, or that was made for the
// address which the provider has verified. The account has no password, and is linked from its beginning.
import type { Services } from '../../context.ts';
import { emailKeyOf, isAddressTaken, newAccount } from '../accounts/accounts.ts';
import { faultOfShownName } from '../../lib/shown-name.ts';
import type { Invitation, Invitations } from '../invitations/invitations.ts';
import type { OutsidePerson } from './client.ts';
import type { Links } from './links.ts';

/** Why nobody came in: nobody invited them, or an account here has their address and has to link the other one itself. */
type Refused = 'not_invited' | 'known_address';

export interface Admit {
  /**
   * @param link of the invitation that the browser has opened; null for none
   * @param isTrusted whether the provider is trusted with addresses: an invitation of the address counts, and the address is proven
   */
  (
    person: OutsidePerson & { readonly verifiedEmail: string },
    by: { readonly link: string | null; readonly isTrusted: boolean },
  ): Promise<{ readonly accountId: string } | Refused>;
}

export function createAdmit(
  services: Pick<Services, 'store' | 'ids' | 'nowMs'>,
  invitations: Invitations,
  links: Links,
): Admit {
  return async (person, { link, isTrusted }) => {
    const { verifiedEmail: email, name } = person;
    const opened = link === null ? null : await invitations.find(link);
    const addressed = isTrusted ? await invitations.findByAddress(email) : [];
    const [first, ...others] = unlike([...(opened ? [opened] : []), ...addressed]);
    if (!first) return 'not_invited';
    const key = emailKeyOf(email);
    // An account that only claims the address keeps nobody out who has proven it, or is invited by it.
    const rivals = isTrusted || first.emailKey === key ? [] : [first.workspaceId];
    if (await isAddressTaken(services.store, key, '', rivals)) return 'known_address';
    const about = { name: shownName(name) ?? first.member.name, email };
    const account = newAccount(services, { ...about, passwordHash: null, isProven: isTrusted });
    const taken = await invitations.take(first, { ...account, also: [links.addOp(account.id, person)] });
    if (taken === 'known_address') return taken;
    if (taken !== 'taken') return 'not_invited';
    // Whichever of these fails can still be taken by its link.
    for (const other of others) await invitations.take(other, { id: account.id });
    return { accountId: account.id };
  };
}

/** Null for a name that is not to be shown. */
function shownName(name: string | null): string | null {
  return name === null || faultOfShownName(name) !== null ? null : name;
}

/** One for each workspace: an account has one seat there. */
function unlike(invitations: readonly Invitation[]): Invitation[] {
  return [...new Map(invitations.toReversed().map((one) => [one.workspaceId, one])).values()].toReversed();
}
