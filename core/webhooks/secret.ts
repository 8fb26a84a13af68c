// Signing secrets: made, sealed under the master key for rest, opened only to sign. Bound to their endpoint, so that a
// sealed secret moved to another row does not open.
import { randomBytes } from 'node:crypto';
import type { Sealing } from '../lib/sealing.ts';

/** A secret that was replaced. */
export interface PreviousSecret {
  /** Base64 of what `sealSecret` made; null once nothing is signed with it any more. */
  readonly sealed: string | null;
  /** It signs until then. */
  readonly expiresAt: number;
  /** When it had last signed a delivery that succeeded, as of its replacement. */
  readonly lastSucceededAt: number | null;
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

function openSecret(sealing: Sealing, workspaceId: string, endpointId: string, sealed: Uint8Array): string {
  return sealing.open(sealed, purpose(workspaceId, endpointId));
}

/** What signs at this moment, newest first. */
export function openSecrets(
  sealing: Sealing,
  workspaceId: string,
  endpoint: {
    readonly id: string;
    readonly secretSealed: Uint8Array;
    readonly previousSecrets: readonly PreviousSecret[];
  },
  nowMs: number,
): string[] {
  const previous = endpoint.previousSecrets.flatMap(({ sealed, expiresAt }) =>
    sealed !== null && expiresAt > nowMs ? [new Uint8Array(Buffer.from(sealed, 'base64'))] : [],
  );
  return [endpoint.secretSealed, ...previous].map((sealed) =>
    openSecret(sealing, workspaceId, endpoint.id, sealed),
  );
}
