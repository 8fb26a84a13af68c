// Address of an endpoint. Its query may contain secrets, so an address with a query is stored sealed under the master
// key and bound to its endpoint, together with its masked form.
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
