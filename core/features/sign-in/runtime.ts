// Assembles the pages for people: ways to sign in, further steps after a password, and sections of the account page.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Directory, Services } from '../../kernel/context.ts';
import type { Route } from '../../kernel/http/route.ts';
import { confirmationRoutes, confirmationSection, profileRoutes, profileSection } from './account/profile.ts';
import { accountRoutes, type AccountSection } from './account/page.ts';
import { passwordRoutes, passwordSection } from './account/password.ts';
import { sessionsRoutes, sessionsSection } from './account/sessions.ts';
import { createProofs, type AccountGrants, type Proofs } from './proof.ts';
import { createPasswords } from './passwords.ts';
import { type IdentityDeps, createInvitations, type Invitations } from '../people/index.ts';
import { joinRoutes } from './join.ts';
import { createResetLimits, createSignInLimits, type SignInLimits } from './limits.ts';
import { resetRoutes } from './resets.ts';
import type { Sessions } from './sessions.ts';
import { signInRoutes, type WayIn } from './page.ts';
import { createSignIn, type FurtherStep, type SignIn } from './sign-in.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Egress } from '../../platform/lib/egress/egress.ts';
import type { Scope } from '../../platform/store/store.ts';
import { createCeremonies } from './challenges.ts';
import { oneTimeCodesRoutes, oneTimeCodesSection } from './account/one-time-codes.ts';
import { createOneTimeCodes, codeStepRoutes, oneTimeCodeStep } from './one-time-codes.ts';
import { passkeySection, passkeyWayIn, passkeyRoutes } from './passkeys/pages.ts';
import { createPasskeys } from './passkeys/passkeys.ts';
import { createAdmit, createOutsideSignIn } from './providers/outside.ts';
import { createLinks } from './providers/links.ts';
import { type ProviderSettings, signInSettings } from './settings.ts';
import { outsideSection, outsideWayIn, outsideRoutes } from './providers/pages.ts';

// Assembles the sign-in factors other than passwords: passkeys, one-time codes, and accounts at external
// providers.

interface Factors {
  readonly furtherSteps: readonly FurtherStep[];
  readonly waysIn: readonly WayIn[];
  readonly sections: readonly AccountSection[];
  routes(signIn: SignIn): Route[];
}

function createFactors(options: {
  services: IdentityDeps;
  sessions: Sessions;
  invitations: Invitations;
  proofs: Proofs;
  limits: SignInLimits;
  providers: readonly ProviderSettings[];
  egress: Egress;
  clock: Clock;
}): Factors {
  const { services, sessions, invitations, proofs, limits, providers, egress, clock } = options;
  const ceremonies = createCeremonies(services);
  const passkeys = createPasskeys(services, ceremonies);
  const codes = createOneTimeCodes(services);
  const links = createLinks(services);
  const outside = createOutsideSignIn({
    services,
    ceremonies,
    links,
    providers,
    egress,
    admit: createAdmit(services, invitations, links),
    monotonicMs: clock.monotonicMs,
  });
  const ground = { services, sessions, ceremonies };
  return {
    furtherSteps: [oneTimeCodeStep(codes)],
    waysIn: [passkeyWayIn(passkeys), outsideWayIn(outside.providers, links)],
    sections: [
      passkeySection(passkeys),
      oneTimeCodesSection(codes),
      outsideSection(outside.providers, links),
    ],
    routes: (signIn) => [
      ...passkeyRoutes({ ...ground, signIn, passkeys }),
      ...codeStepRoutes({ ...ground, signIn, limits, codes }),
      ...oneTimeCodesRoutes({ ...ground, codes }),
      ...outsideRoutes({ ...ground, signIn, outside, links, proofs }),
    ],
  };
}

export interface SignInOptions {
  readonly services: Services;
  readonly sessions: Sessions;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly clock: Clock;
  readonly egress: Egress;
  readonly grants: AccountGrants;
  /** Part of the account page about apps with access. */
  readonly apps: { readonly section: AccountSection; readonly routes: readonly Route[] };
}

export function signInPageRoutes(options: SignInOptions): Route[] {
  const { services, sessions, committer, directoryOf, clock, egress, grants, apps } = options;
  const { store, nowMs } = services;
  const passwords = createPasswords();
  const limits = createSignInLimits(clock.monotonicMs);
  const ground = { services, sessions, passwords };
  const proofs = createProofs(services, grants);
  const invitations = createInvitations({ store, committer, directoryOf, nowMs });
  const factors = createFactors({
    services,
    sessions,
    invitations,
    proofs,
    limits,
    egress,
    clock,
    providers: services.settings.of(signInSettings.identityProviders),
  });
  const resetLimits = createResetLimits(clock.monotonicMs);
  const confirmation = { services, sessions, proofs, limits: resetLimits };
  const signIn = createSignIn({ ...ground, limits, furtherSteps: factors.furtherSteps });
  return [
    ...signInRoutes({ ...ground, signIn, waysIn: factors.waysIn }),
    ...joinRoutes({ ...ground, signIn, invitations, proofs }),
    ...resetRoutes({ services, passwords, grants, limits: resetLimits }),
    ...accountRoutes({
      ...ground,
      sections: [
        profileSection,
        confirmationSection(ground),
        passwordSection(ground),
        ...factors.sections,
        sessionsSection(ground),
        apps.section,
      ],
    }),
    ...profileRoutes(ground),
    ...confirmationRoutes(confirmation),
    ...passwordRoutes({ ...ground, signIn }),
    ...sessionsRoutes({ ...ground, grants }),
    ...apps.routes,
    ...factors.routes(signIn),
  ];
}
