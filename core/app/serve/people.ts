// Assembles the pages for people: ways to sign in, further steps after a password, and sections of the account page.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Directory, Services } from '../../kernel/context.ts';
import type { App } from '../../kernel/http/app.ts';
import type { Route } from '../../kernel/http/route.ts';
import { confirmationRoutes, confirmationSection } from '../../features/people/account/confirmation.ts';
import { accountRoutes, type AccountSection } from '../../features/people/account/page.ts';
import { passwordRoutes, passwordSection } from '../../features/people/account/password.ts';
import { profileRoutes, profileSection } from '../../features/people/account/profile.ts';
import { sessionsRoutes, sessionsSection } from '../../features/people/account/sessions.ts';
import { createProofs, type Proofs } from '../../features/people/accounts/proof.ts';
import { createPasswords } from '../../features/people/accounts/passwords.ts';
import { createAccountGrants } from '../../features/oauth/grants/ending.ts';
import { createInvitations, type Invitations } from '../../features/people/invitations/invitations.ts';
import { joinRoutes } from '../../features/people/invitations/page.ts';
import { createResetLimits } from '../../features/sign-in/resets/limits.ts';
import { resetRoutes } from '../../features/sign-in/resets/page.ts';
import type { Sessions } from '../../features/sign-in/sessions/sessions.ts';
import { createSignInLimits, type SignInLimits } from '../../features/sign-in/limits.ts';
import { signInRoutes, type WayIn } from '../../features/sign-in/page.ts';
import { createSignIn, type FurtherStep, type SignIn } from '../../features/sign-in/sign-in.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Egress } from '../../platform/lib/egress/egress.ts';
import { grantRoutes, grantsSection } from '../pages/grants/section.ts';
import type { Scope } from '../../platform/store/store.ts';
import { createCeremonies } from '../../features/sign-in/challenges.ts';
import { oneTimeCodesRoutes, oneTimeCodesSection } from '../../features/sign-in/one-time-codes/account.ts';
import { createOneTimeCodes } from '../../features/sign-in/one-time-codes/one-time-codes.ts';
import { codeStepRoutes, oneTimeCodeStep } from '../../features/sign-in/one-time-codes/step.ts';
import { passkeySection, passkeyWayIn } from '../../features/sign-in/passkeys/pages.ts';
import { createPasskeys } from '../../features/sign-in/passkeys/passkeys.ts';
import { passkeyRoutes } from '../../features/sign-in/passkeys/forms.ts';
import { signInSettings } from '../../features/sign-in/settings.ts';
import type { Config } from '../config/config.ts';
import type { ProviderSettings } from '../../features/sign-in/providers/provider.ts';
import { createAdmit } from '../../features/sign-in/providers/admit.ts';
import { createLinks } from '../../features/sign-in/providers/links.ts';
import { createOutsideSignIn } from '../../features/sign-in/providers/outside.ts';
import { outsideSection, outsideWayIn } from '../../features/sign-in/providers/pages.ts';
import { outsideRoutes } from '../../features/sign-in/providers/forms.ts';

// Assembles the sign-in factors other than passwords: passkeys, one-time codes, and accounts at external
// providers.

interface Factors {
  readonly furtherSteps: readonly FurtherStep[];
  readonly waysIn: readonly WayIn[];
  readonly sections: readonly AccountSection[];
  routes(signIn: SignIn): Route[];
}

function createFactors(options: {
  services: Services;
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

export function peopleRoutes(options: {
  services: Services;
  sessions: Sessions;
  committer: Committer;
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  clock: Clock;
  config: Config;
  egress: Egress;
  app: () => App;
}): Route[] {
  const { services, sessions, committer, directoryOf, clock, egress, app } = options;
  const { store, nowMs } = services;
  const passwords = createPasswords();
  const limits = createSignInLimits(clock.monotonicMs);
  const ground = { services, sessions, passwords };
  const granted = { services, sessions, app };
  const grants = createAccountGrants({ services, committer, directoryOf });
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
    providers: options.services.settings.of(signInSettings.identityProviders),
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
        grantsSection(granted),
      ],
    }),
    ...profileRoutes(ground),
    ...confirmationRoutes(confirmation),
    ...passwordRoutes({ ...ground, signIn }),
    ...sessionsRoutes({ ...ground, grants }),
    ...grantRoutes(granted),
    ...factors.routes(signIn),
  ];
}
