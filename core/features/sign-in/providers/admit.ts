// Creates accounts for invited people who sign in at an external provider. The invitation is the one whose
// link they opened in this browser, or one for an address that a trusted provider has verified. The account
// has no password and is linked to the external account.
import {
  type IdentityDeps,
  emailKeyOf,
  isAddressTaken,
  newAccount,
  type Invitation,
  type Invitations,
} from '../../people/index.ts';
import { displayNameFault } from '../../../platform/lib/display-name.ts';
import type { OutsidePerson } from './client.ts';
import type { Links } from './links.ts';

/** `known_address`: an account with the address exists, and its owner must sign in to link the provider. */
type Refused = 'not_invited' | 'known_address';

export interface Admit {
  /**
   * @param link token of the invitation that the browser has opened; null for none
   * @param isTrusted true if the operator trusts the addresses of the provider. Invitations for the address
   * then count, and the address of the account is verified.
   */
  (
    person: OutsidePerson & { readonly verifiedEmail: string },
    by: { readonly link: string | null; readonly isTrusted: boolean },
  ): Promise<{ readonly accountId: string } | Refused>;
}

export function createAdmit(services: IdentityDeps, invitations: Invitations, links: Links): Admit {
  return async (person, { link, isTrusted }) => {
    const { verifiedEmail: email, name } = person;
    const opened = link === null ? null : await invitations.find(link);
    const addressed = isTrusted ? await invitations.findByAddress(email) : [];
    const [first, ...others] = unlike([...(opened ? [opened] : []), ...addressed]);
    if (!first) return 'not_invited';
    const key = emailKeyOf(email);
    // Another account with the unverified address does not prevent an account for a person with the verified
    // or invited address.
    const rivals = isTrusted || first.emailKey === key ? [] : [first.workspaceId];
    if (await isAddressTaken(services.store, key, '', rivals)) return 'known_address';
    const about = { name: displayName(name) ?? first.member.name, email };
    const account = newAccount(services, { ...about, passwordHash: null, isProven: isTrusted });
    const taken = await invitations.take(first, { ...account, also: [links.addOp(account.id, person)] });
    if (taken === 'known_address') return taken;
    if (taken !== 'taken') return 'not_invited';
    // A failure is ignored, because the link of the invitation still works.
    for (const other of others) await invitations.take(other, { id: account.id });
    return { accountId: account.id };
  };
}

/** Returns null for a missing or invalid name. */
function displayName(name: string | null): string | null {
  return name === null || displayNameFault(name) !== null ? null : name;
}

/**
 * Returns the first invitation of each workspace, because an account can be only one member of a workspace.
 */
function unlike(invitations: readonly Invitation[]): Invitation[] {
  return [...new Map(invitations.toReversed().map((one) => [one.workspaceId, one])).values()].toReversed();
}
