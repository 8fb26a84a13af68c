// Creates accounts for people who sign in at an external provider and have an invitation: one whose link they opened in this browser, or
// one for the address that a trusted provider has verified. The account has no password and is linked at once.
import type { Services } from '../../context.ts';
import { emailKeyOf, isAddressTaken, newAccount } from '../accounts/accounts.ts';
import { displayNameFault } from '../../lib/display-name.ts';
import type { Invitation, Invitations } from '../invitations/invitations.ts';
import type { OutsidePerson } from './client.ts';
import type { Links } from './links.ts';

/** `not_invited`: no invitation. `known_address`: an account with the address exists, and its owner has to link the provider. */
type Refused = 'not_invited' | 'known_address';

export interface Admit {
  /**
   * @param link token of the invitation that the browser has opened; null for none
   * @param isTrusted true if the operator trusts the addresses of the provider: invitations for the address count, and it is verified
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
    // Another account with the unverified address does not block a person who has verified it or is invited with it.
    const rivals = isTrusted || first.emailKey === key ? [] : [first.workspaceId];
    if (await isAddressTaken(services.store, key, '', rivals)) return 'known_address';
    const about = { name: displayName(name) ?? first.member.name, email };
    const account = newAccount(services, { ...about, passwordHash: null, isProven: isTrusted });
    const taken = await invitations.take(first, { ...account, also: [links.addOp(account.id, person)] });
    if (taken === 'known_address') return taken;
    if (taken !== 'taken') return 'not_invited';
    // If one of these fails, its link still works.
    for (const other of others) await invitations.take(other, { id: account.id });
    return { accountId: account.id };
  };
}

/** Returns null for a missing or unsuitable name. */
function displayName(name: string | null): string | null {
  return name === null || displayNameFault(name) !== null ? null : name;
}

/** Keeps the first invitation of each workspace, because an account can be only one member there. */
function unlike(invitations: readonly Invitation[]): Invitation[] {
  return [...new Map(invitations.toReversed().map((one) => [one.workspaceId, one])).values()].toReversed();
}
