// Exports for commands that work without a server: small modules that load quickly.

export type { BacktestReport, GateReport, ShadowReport } from './trial/schema.ts';
export { describePackage } from './packages.ts';
export { firstPartyNames, packFirstParty } from './packages.ts';
export type { Consent } from './installs/schema.ts';
export { consentLines, type Replaced } from './installs/versions/consent.ts';
export { effectiveMode } from './installs/mode.ts';
export { requireKnown } from './installs/manifest.ts';
export { checkRequests } from './installs/versions/check.ts';
export { withLocalSandbox } from './sandbox.ts';
export { whyNotItsCode, type Recording } from './recorder/recording.ts';
export { replay, type Divergence, type Replayed } from './recorder/replay.ts';
export { sdkSources } from './packages.ts';
export {
  isPublicKey,
  isSignedBy,
  keyIdOf,
  newKey,
  signPackage,
  type PackageSignature,
} from './installs/versions/signature.ts';
export { positionText, sourceMapLookupOf } from './source-positions.ts';
