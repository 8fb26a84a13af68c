// Signing secrets: made, sealed under the master key for rest, opened only to sign. Bound to their endpoint, so that a
// sealed secret moved to another row does not open.
import { randomBytes } from 'node:crypto';
import type { Sealing } from '../lib/sealing.ts';

/** A secret that was replaced. */
export interface PreviousSecret {
  /** Base64 of what `sealSecret` made. */
  readonly sealed: string;
  /** It signs until then. */
  readonly expiresAt: number;
}

/** `whsec_` + 24 random bytes in base64: the form both signature schemes read. */
export function mintSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

const purpose = (workspaceId: string, endpointId: string): string =>
  `webhook-secret:${workspaceId}:${endpointId}`;

export function sealSecret(
  sealing: Sealing,
  workspaceId: string,
  endpointId: string,
  secret: string,
): Uint8Array {
  return sealing.seal(secret, purpose(workspaceId, endpointId));
}

export function openSecret(
  sealing: Sealing,
  workspaceId: string,
  endpointId: string,
  sealed: Uint8Array,
): string {
  return sealing.open(sealed, purpose(workspaceId, endpointId));
}
