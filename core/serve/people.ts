// The pages for people, put together: every way in, what is asked after a password, and the parts of the account page stand in one list each.
import type { Committer } from '../changes/commit.ts';
import type { Directory, Services } from '../context.ts';
import type { Route } from '../http/route.ts';
import { accountRoutes } from '../identity/account/page.ts';
import { passwordRoutes, passwordSection } from '../identity/account/password.ts';
import { profileRoutes, profileSection } from '../identity/account/profile.ts';
import { sessionsRoutes, sessionsSection } from '../identity/account/sessions.ts';
import { createPasswords } from '../identity/accounts/passwords.ts';
import { createInvitations } from '../identity/invitations/invitations.ts';
import { joinRoutes } from '../identity/invitations/page.ts';
import { createResetLimits } from '../identity/resets/limits.ts';
import { resetRoutes } from '../identity/resets/page.ts';
import type { Sessions } from '../identity/sessions/sessions.ts';
import { createSignInLimits } from '../identity/sign-in/limits.ts';
import { signInRoutes } from '../identity/sign-in/page.ts';
import { createSignIn } from '../identity/sign-in/sign-in.ts';
import type { Clock } from '../lib/clock.ts';
import type { Scope } from '../store/store.ts';

export function peopleRoutes(options: {
  services: Services;
  sessions: Sessions;
  committer: Committer;
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  clock: Clock;
}): Route[] {
  const { services, sessions, committer, directoryOf, clock } = options;
  const { store, nowMs } = services;
  const passwords = createPasswords();
  const limits = createSignInLimits(clock.monotonicMs);
  const ground = { services, sessions, passwords };
  const signIn = createSignIn({ ...ground, limits, furtherSteps: [] });
  const invitations = createInvitations({ store, committer, directoryOf, nowMs });
  return [
    ...signInRoutes({ ...ground, signIn, waysIn: [] }),
    ...joinRoutes({ ...ground, signIn, invitations }),
    ...resetRoutes({ services, passwords, limits: createResetLimits(clock.monotonicMs) }),
    ...accountRoutes({
      ...ground,
      sections: [profileSection, passwordSection(ground), sessionsSection(ground)],
    }),
    ...profileRoutes(ground),
    ...passwordRoutes({ ...ground, signIn }),
    ...sessionsRoutes(ground),
  ];
}
