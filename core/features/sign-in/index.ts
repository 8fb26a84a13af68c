import { defineFeature } from '../../kernel/feature.ts';

export const signIn = defineFeature({ name: 'sign-in' });

export { changeRoute, noMembership, type AccountSection, type ChangeOptions } from './account/page.ts';
export { turnOffOps } from './one-time-codes.ts';
export {
  isFresh,
  leadToProof,
  leadToSignIn,
  readSignedForm,
  hidden,
  problem,
  card,
  pageRoute,
} from './page-parts.ts';
export { createSessionBearers, type SessionBearers } from './bearers/bearers.ts';
export type { AccountGrants } from './proof.ts';
export { newReset } from './resets.ts';
export { signInPageRoutes } from './runtime.ts';
export {
  createSessions,
  sessionPrefix,
  stillSignedInOp,
  type AccountMembership,
  type Sessions,
  type SignedIn,
} from './sessions.ts';
