// Signing secrets. They are stored sealed under the master key and opened only to sign. A sealed secret is bound to
// its endpoint and cannot be opened in another row.
import { sealedFor, type Sealing } from '../../platform/lib/secrets/sealing.ts';

export interface PreviousSecret {
  /** Base64 of the result of `sealSecret`; null once it no longer signs. */
  readonly sealed: string | null;
  /** Time until which the secret signs. */
  readonly expiresAt: number;
  /** Time of the last successful delivery signed with it, as of its replacement. */
  readonly lastSucceededAt: number | null;
}

export function sealSecret(
  sealing: Sealing,
  workspaceId: string,
  endpointId: string,
  secret: string,
): Uint8Array {
  return sealing.seal(secret, sealedFor('webhook-secret', workspaceId, endpointId));
}

function openSecret(sealing: Sealing, workspaceId: string, endpointId: string, sealed: Uint8Array): string {
  return sealing.open(sealed, sealedFor('webhook-secret', workspaceId, endpointId));
}

/** Returns true if the secret was sealed with this key. */
export function opensSecret(
  sealing: Sealing,
  workspaceId: string,
  endpointId: string,
  sealed: Uint8Array,
): boolean {
  try {
    openSecret(sealing, workspaceId, endpointId, sealed);
    return true;
  } catch {
    return false;
  }
}

interface Signer {
  readonly id: string;
  readonly secretSealed: Uint8Array;
  readonly previousSecrets: readonly PreviousSecret[];
}

export type OpenSecrets = (workspaceId: string, endpoint: Signer, nowMs: number) => string[];

/**
 * Returns the secrets that sign at a time, newest first. They are opened once per `endpoint` object, which represents
 * one version of an endpoint: a changed endpoint is a new object.
 */
export function createSecretOpener(sealing: Sealing): OpenSecrets {
  const opened = new WeakMap<Signer, readonly { readonly secret: string; readonly expiresAt: number }[]>();

  const open = (workspaceId: string, endpoint: Signer, nowMs: number) => {
    const previous = endpoint.previousSecrets.flatMap(({ sealed, expiresAt }) =>
      sealed !== null && expiresAt > nowMs
        ? [{ sealed: new Uint8Array(Buffer.from(sealed, 'base64')), expiresAt }]
        : [],
    );
    return [{ sealed: endpoint.secretSealed, expiresAt: Infinity }, ...previous].map(
      ({ sealed, expiresAt }) => ({
        secret: openSecret(sealing, workspaceId, endpoint.id, sealed),
        expiresAt,
      }),
    );
  };

  return (workspaceId, endpoint, nowMs) => {
    const known = opened.get(endpoint) ?? open(workspaceId, endpoint, nowMs);
    opened.set(endpoint, known);
    return known.filter(({ expiresAt }) => expiresAt > nowMs).map(({ secret }) => secret);
  };
}
