// Exports for commands that work without a server: small modules that load quickly.
export type { BacktestReport, GateReport } from './backtests/report.ts';
export { describePackage } from './describe.ts';
export { firstPartyNames, packFirstParty } from './first-party.ts';
export type { Consent } from './installs/consent/consent-schema.ts';
export { consentLines, type Replaced } from './installs/consent/request.ts';
export { effectiveMode } from './installs/mode.ts';
export { requireKnown } from './installs/references.ts';
export { checkRequests } from './installs/versions/check.ts';
export { withLocalSandbox } from './local-sandbox.ts';
export { whyNotItsCode, type Recording } from './recorder/recording.ts';
export { replay, type Divergence, type Replayed } from './recorder/replay.ts';
export { sdkSources } from './sdk-sources.ts';
export type { ShadowReport } from './shadows/report.ts';
export { isPublicKey, isSignedBy, keyIdOf, newKey, signPackage, type PackageSignature } from './signature.ts';
export { positionText, sourceMapLookupOf } from './source-positions.ts';
