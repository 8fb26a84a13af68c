// Sign-in with an external OpenID provider, and linking of accounts. Issuer and subject identify a person. An
// e-mail address never selects an account, because addresses change owners. If the operator allows it, a
// verified address accepts an invitation for it.
import {
  type IdentityDeps,
  emailKeyOf,
  isAddressTaken,
  newAccount,
  type Invitation,
  type Invitations,
} from '../../people/index.ts';
import { displayNameFault } from '../../../platform/lib/display-name.ts';
import { type OutsidePerson, createOutsideClient, type OutsideClient } from './client.ts';
import type { Links } from './links.ts';
import { domainOf } from '../../../platform/lib/address.ts';
import type { RequestSender } from '../../../platform/lib/egress/egress.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { Challenges, Challenge } from '../challenges.ts';
import type { SignedIn } from '../sessions.ts';
import type { ProviderSettings } from '../settings.ts';

/** `known_address`: an account with the address exists, and its owner must sign in to link the provider. */
type Refused = 'not_invited' | 'known_address';

/**
 * Creates accounts for invited people who sign in at an external provider. The invitation is the one whose
 * link they opened in this browser, or one for an address that a trusted provider has verified. The account
 * has no password and is linked to the external account.
 * @param link token of the invitation that the browser has opened; null for none
 * @param isTrusted true if the operator trusts the addresses of the provider. Invitations for the address then
 * count, and the address of the account is verified.
 */
async function admit(
  { services, invitations, links }: OutsideOptions,
  person: OutsidePerson & { readonly verifiedEmail: string },
  link: string | null,
  isTrusted: boolean,
): Promise<{ readonly accountId: string } | Refused> {
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

/** `prove` confirms the identity of a signed-in person for a sensitive change. */
type Intent = 'sign_in' | 'link' | 'prove';

interface MatchedAccount {
  readonly accountId: string;
  /** True for an account that was created to accept an invitation. */
  readonly isNew: boolean;
}

interface CameBack extends MatchedAccount {
  readonly intent: Intent;
  /** Address verified by a provider whose addresses the operator trusts; null for none. */
  readonly provenEmail: string | null;
  readonly issuer: string;
  /** Path on this server to continue to. */
  readonly to: string;
}

/** Data that the challenge stores between the redirects. */
interface Leaving {
  readonly key: string;
  readonly intent: Intent;
  readonly to: string;
}

interface Now {
  /** Session of the browser; null without one. */
  readonly who: SignedIn | null;
  /** Token of the invitation that the browser has opened; null for none. */
  readonly link: string | null;
}

export interface OutsideSignIn {
  readonly providers: readonly ProviderSettings[];
  /**
   * Starts a challenge.
   * @param accountId account of the signed-in person; null for a sign-in
   * @returns the authorization URL, and the `Set-Cookie` line that binds the response to the browser
   * @throws ApiError not_found, unavailable
   */
  leave(
    leaving: Leaving,
    accountId: string | null,
  ): Promise<{ readonly name: string; readonly address: string; readonly cookie: string }>;
  /** @throws ApiError forbidden, conflict, not_found */
  comeBack(
    key: string,
    request: { readonly headers: Headers; readonly query: URLSearchParams },
    now: Now,
  ): Promise<CameBack>;
}

interface Provider {
  readonly settings: ProviderSettings;
  readonly client: OutsideClient;
}

interface OutsideOptions {
  readonly services: IdentityDeps;
  readonly challenges: Challenges;
  readonly links: Links;
  readonly providers: readonly ProviderSettings[];
  readonly egress: RequestSender;
  readonly monotonicMs: () => number;
  readonly invitations: Invitations;
}

export function createOutsideSignIn(options: OutsideOptions): OutsideSignIn {
  const { services, challenges } = options;
  const { log } = services;
  const providers = new Map(
    options.providers.map((settings) => [settings.key, providerOf(settings, options)]),
  );
  const get = (key: string): Provider => {
    const provider = providers.get(key);
    if (!provider) throw new ApiError('not_found');
    return provider;
  };
  return {
    providers: options.providers,
    async leave(leaving, accountId) {
      const { key, intent } = leaving;
      const { settings, client } = get(key);
      const { challenge, cookie } = await challenges.begin('outside', accountId, leaving);
      const address = await client.addressFor(challenge, intent === 'prove').catch((error: unknown) => {
        log('warn', 'identity provider did not respond', { provider: key, error: wordsOf(error) });
        throw new ApiError(
          'unavailable',
          `${settings.name} cannot be reached. Try again, or sign in another way.`,
        );
      });
      return { name: settings.name, address, cookie };
    },
    async comeBack(key, { headers, query }, now) {
      const { settings, client } = get(key);
      const challenge = await challenges.take<Leaving>('outside', headers);
      if (
        !challenge ||
        challenge.details.key !== key ||
        (challenge.accountId !== null && challenge.accountId !== now.who?.accountId)
      )
        throw new ApiError(
          'forbidden',
          'The request has expired, or was started in another browser. Try again.',
        );
      const { intent, to } = challenge.details;
      const person = await client.personOf(challenge, query, intent === 'prove').catch((error: unknown) => {
        log('info', 'sign-in refused: identity provider', {
          provider: key,
          error: wordsOf(error),
        });
        throw new ApiError(
          'forbidden',
          `${settings.name} did not sign you in. Try again, or sign in another way.`,
        );
      });
      requireDomain(settings, person);
      return {
        intent,
        provenEmail: settings.takesInvitations ? person.verifiedEmail : null,
        issuer: person.issuer,
        ...(await accountFor(challenge, person, { settings, ...now }, options)),
        to,
      };
    },
  };
}

/**
 * Returns the account to sign in to, or the signed-in account after the link or confirmation.
 * @throws ApiError forbidden, conflict
 */
async function accountFor(
  { accountId, details: { intent } }: Challenge<Leaving>,
  person: OutsidePerson,
  by: Now & { readonly settings: ProviderSettings },
  options: OutsideOptions,
): Promise<MatchedAccount> {
  const { settings, who } = by;
  if (accountId === null || !who) return accountOf(person, by, options);
  if (intent === 'link') await options.links.add(who, person, settings.name);
  else if ((await options.links.use(person)) !== accountId)
    throw new ApiError(
      'forbidden',
      `${person.displayName} at ${settings.name} is not linked with the account that you are signed in to. Use a linked account.`,
    );
  return { accountId, isNew: false };
}

function providerOf(settings: ProviderSettings, options: OutsideOptions): Provider {
  const { egress, monotonicMs, services } = options;
  const redirectUri = `${services.baseUrl}/sign-in/with/${settings.key}/return`;
  return { settings, client: createOutsideClient({ settings, redirectUri, egress, monotonicMs }) };
}

/** @throws ApiError forbidden for a person without an account or invitation */
async function accountOf(
  person: OutsidePerson,
  { settings, link }: { readonly settings: ProviderSettings; readonly link: string | null },
  options: OutsideOptions,
): Promise<MatchedAccount> {
  const linked = await options.links.use(person);
  if (linked !== null) return { accountId: linked, isNew: false };
  const { verifiedEmail, displayName } = person;
  const { key, name, takesInvitations } = settings;
  const admitted =
    verifiedEmail === null
      ? 'not_invited'
      : await admit(options, { ...person, verifiedEmail }, link, takesInvitations);
  if (typeof admitted === 'object') {
    options.services.log('info', 'an invited person joined through an identity provider', {
      provider: key,
      ...admitted,
    });
    return { ...admitted, isNew: true };
  }
  const advice =
    admitted === 'known_address'
      ? `An account with this address exists: sign in to it another way, then link ${name} on your account page.`
      : `Sign in another way, then link ${name} on your account page. If you have no account yet, ask for an invitation and open it before you sign in with ${name}.`;
  throw new ApiError(
    'forbidden',
    `No account on this server is linked with ${displayName} at ${name}. ${advice}`,
  );
}

/** @throws ApiError forbidden for a person without a verified address in an allowed domain */
function requireDomain({ domains, name }: ProviderSettings, { verifiedEmail }: OutsidePerson): void {
  if (domains.length === 0) return;
  const domain = verifiedEmail === null ? undefined : domainOf(emailKeyOf(verifiedEmail));
  if (domain === undefined || !domains.includes(domain))
    throw new ApiError(
      'forbidden',
      `This server accepts only ${name} accounts with a verified address at ${domains.join(' or ')}. Use another account.`,
    );
}

/**
 * Joins the messages of an error and its causes. Messages contain no token or code. Causes that are not
 * errors may contain one, so they are omitted.
 */
function wordsOf(error: unknown): string {
  const words: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) words.push(cause.message);
  return words.join(': ');
}
