// Assembles the pages for people: ways to sign in, further steps after a password, and sections of the account page.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Directory, Services } from '../../kernel/context.ts';
import type { Route } from '../../kernel/http/route.ts';
import { confirmationRoutes, confirmationSection, profileRoutes, profileSection } from './account/profile.ts';
import { accountRoutes, type AccountSection, type ChangeOptions } from './account/page.ts';
import { passwordRoutes, passwordSection } from './account/password.ts';
import { sessionsRoutes, sessionsSection } from './account/sessions.ts';
import { createProofs, type AccountGrants, type Proofs } from './proof.ts';
import { createPasswords, type Passwords } from './passwords.ts';
import { createInvitations, type Invitations } from '../people/index.ts';
import { joinRoutes } from './join.ts';
import { createResetLimits, createSignInLimits, type SignInLimits, type ResetLimits } from './limits.ts';
import { resetRoutes } from './resets.ts';
import { signInRoutes, type WayIn } from './page.ts';
import { createSignIn, type SignIn } from './sign-in.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Egress } from '../../platform/lib/egress/egress.ts';
import type { Scope } from '../../platform/store/store.ts';
import { createChallenges, type Challenges } from './challenges.ts';
import { oneTimeCodesRoutes, oneTimeCodesSection } from './account/one-time-codes.ts';
import { createOneTimeCodes, codeStepRoutes, oneTimeCodeStep, type OneTimeCodes } from './one-time-codes.ts';
import { passkeySection, passkeyWayIn, passkeyRoutes } from './passkeys/pages.ts';
import { createPasskeys, type Passkeys } from './passkeys/passkeys.ts';
import { createOutsideSignIn, type OutsideSignIn } from './providers/outside.ts';
import { createLinks, type Links } from './providers/links.ts';
import { signInSettings } from './settings.ts';
import { outsideSection, outsideWayIn, outsideRoutes } from './providers/pages.ts';

/** Parts that the pages share. */
export interface SignInParts extends ChangeOptions {
  readonly grants: AccountGrants;
  readonly passwords: Passwords;
  readonly limits: SignInLimits;
  readonly resetLimits: ResetLimits;
  readonly proofs: Proofs;
  readonly invitations: Invitations;
  readonly challenges: Challenges;
  readonly passkeys: Passkeys;
  readonly codes: OneTimeCodes;
  readonly links: Links;
  readonly outside: OutsideSignIn;
  readonly waysIn: readonly WayIn[];
  readonly signIn: SignIn;
}

interface SignInPagesOptions extends ChangeOptions {
  readonly services: Services;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly clock: Clock;
  readonly egress: Egress;
  readonly grants: AccountGrants;
  /** Part of the account page about apps with access. */
  readonly apps: { readonly section: AccountSection; readonly routes: readonly Route[] };
}

function partsOf(options: SignInPagesOptions): SignInParts {
  const { services, sessions, committer, directoryOf, clock, egress, grants } = options;
  const { store, nowMs } = services;
  const { monotonicMs } = clock;
  const passwords = createPasswords();
  const limits = createSignInLimits(monotonicMs);
  const invitations = createInvitations({ store, committer, directoryOf, nowMs });
  const challenges = createChallenges(services);
  const passkeys = createPasskeys(services, challenges);
  const codes = createOneTimeCodes(services);
  const links = createLinks(services);
  const providers = services.settings.of(signInSettings.identityProviders);
  return {
    services,
    sessions,
    grants,
    passwords,
    limits,
    resetLimits: createResetLimits(monotonicMs),
    proofs: createProofs(services, grants),
    invitations,
    challenges,
    passkeys,
    codes,
    links,
    outside: createOutsideSignIn({
      services,
      challenges,
      links,
      invitations,
      providers,
      egress,
      monotonicMs,
    }),
    waysIn: [passkeyWayIn(passkeys), outsideWayIn(providers, links)],
    signIn: createSignIn({ services, sessions, passwords, limits, furtherSteps: [oneTimeCodeStep(codes)] }),
  };
}

export function signInPageRoutes(options: SignInPagesOptions): Route[] {
  const { apps } = options;
  const parts = partsOf(options);
  return [
    ...signInRoutes(parts),
    ...joinRoutes(parts),
    ...resetRoutes(parts),
    ...accountRoutes(parts, [
      profileSection,
      confirmationSection(parts),
      passwordSection(parts),
      passkeySection(parts.passkeys),
      oneTimeCodesSection(parts.codes),
      outsideSection(parts.outside.providers, parts.links),
      sessionsSection(parts),
      apps.section,
    ]),
    ...profileRoutes(parts),
    ...confirmationRoutes(parts),
    ...passwordRoutes(parts),
    ...sessionsRoutes(parts),
    ...apps.routes,
    ...passkeyRoutes(parts),
    ...codeStepRoutes(parts),
    ...oneTimeCodesRoutes(parts),
    ...outsideRoutes(parts),
  ];
}
