// Assembles the sign-in factors other than passwords: passkeys, one-time codes, and accounts at external
// providers.
import type { Config } from '../config.ts';
import type { Services } from '../context.ts';
import type { Route } from '../http/route.ts';
import type { Proofs } from '../identity/accounts/proof.ts';
import type { AccountSection } from '../identity/account/page.ts';
import { createCeremonies } from '../identity/ceremonies/ceremonies.ts';
import type { Invitations } from '../identity/invitations/invitations.ts';
import { oneTimeCodesRoutes, oneTimeCodesSection } from '../identity/one-time-codes/account.ts';
import { createOneTimeCodes } from '../identity/one-time-codes/one-time-codes.ts';
import { codeStepRoutes, oneTimeCodeStep } from '../identity/one-time-codes/step.ts';
import { passkeySection, passkeyWayIn } from '../identity/passkeys/pages.ts';
import { createPasskeys } from '../identity/passkeys/passkeys.ts';
import { passkeyRoutes } from '../identity/passkeys/forms.ts';
import { createAdmit } from '../identity/providers/admit.ts';
import { createLinks } from '../identity/providers/links.ts';
import { createOutsideSignIn } from '../identity/providers/outside.ts';
import { outsideSection, outsideWayIn } from '../identity/providers/pages.ts';
import { outsideRoutes } from '../identity/providers/forms.ts';
import type { Sessions } from '../identity/sessions/sessions.ts';
import type { SignInLimits } from '../identity/sign-in/limits.ts';
import type { WayIn } from '../identity/sign-in/page.ts';
import type { FurtherStep, SignIn } from '../identity/sign-in/sign-in.ts';
import type { Clock } from '../lib/clock.ts';
import type { Egress } from '../lib/egress/egress.ts';

export interface Factors {
  readonly furtherSteps: readonly FurtherStep[];
  readonly waysIn: readonly WayIn[];
  readonly sections: readonly AccountSection[];
  routes(signIn: SignIn): Route[];
}

export function createFactors(options: {
  services: Services;
  sessions: Sessions;
  invitations: Invitations;
  proofs: Proofs;
  limits: SignInLimits;
  providers: Config['identityProviders'];
  egress: Pick<Egress, 'send'>;
  clock: Clock;
}): Factors {
  const { services, sessions, invitations, proofs, limits, providers, egress, clock } = options;
  const ceremonies = createCeremonies(services);
  const passkeys = createPasskeys(services, ceremonies);
  const codes = createOneTimeCodes(services);
  const links = createLinks(services);
  const outside = createOutsideSignIn({
    ...{ services, ceremonies, links, providers, egress },
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
