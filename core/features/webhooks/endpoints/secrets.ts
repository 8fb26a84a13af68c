// Address and signing secrets of an endpoint, sealed under the master key and bound to the endpoint. The
// query of an address may contain secrets, so an address with a query is stored sealed, together with its
// masked form. Signing secrets are opened only to sign.
import type { Column } from '../../../kernel/changes/operations.ts';
import { maskedUrl } from '../../../platform/lib/secrets/masked-url.ts';
import { sealedFor, type Sealing } from '../../../platform/lib/secrets/sealing.ts';

export interface EndpointAddress {
  /** Masked address; the full address if it has no query. */
  readonly text: string;
  /** Full address, sealed, in base64; null if `text` is the full address. */
  readonly sealed: string | null;
}

interface Addressed {
  readonly id: string;
  readonly address: EndpointAddress;
}

/** A sealed address is stored as JSON; no plain address starts with a brace. */
export const addressField: Column<EndpointAddress> = {
  column: 'url',
  read: (value) =>
    String(value).startsWith('{') ? JSON.parse(String(value)) : { text: value, sealed: null },
  write: (value) => {
    const address = value as EndpointAddress;
    return address.sealed === null ? address.text : JSON.stringify(address);
  },
};

export function sealAddress(
  sealing: Sealing,
  workspaceId: string,
  endpointId: string,
  url: string,
): EndpointAddress {
  const text = maskedUrl(url);
  if (text === url) return { text, sealed: null };
  const sealed = sealing.seal(url, sealedFor('webhook-url', workspaceId, endpointId));
  return { text, sealed: Buffer.from(sealed).toString('base64') };
}

export function openAddress(sealing: Sealing, workspaceId: string, { id, address }: Addressed): string {
  const { text, sealed } = address;
  if (sealed === null) return text;
  return sealing.open(
    new Uint8Array(Buffer.from(sealed, 'base64')),
    sealedFor('webhook-url', workspaceId, id),
  );
}

export function displayAddress({ address }: Addressed): string {
  return address.text;
}

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
