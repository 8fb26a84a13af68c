// Where an endpoint's deliveries go. The query of an address may hold a secret, so an address with one rests sealed under the
// master key, bound to its endpoint, beside what is shown of it.
import type { Column } from '../../changes/kind.ts';
import { maskedUrl } from '../../lib/masked-url.ts';
import type { Sealing } from '../../lib/sealing.ts';

export interface Address {
  /** What is shown; of an earlier version, and without a query, the whole. */
  readonly text: string;
  /** Base64 of the whole; null where the text is. */
  readonly sealed: string | null;
}

interface Addressed {
  readonly id: string;
  readonly address: Address;
}

/** A sealed address is kept as JSON, which no address begins like. */
export const addressField: Column<Address> = {
  column: 'url',
  read: (value) =>
    String(value).startsWith('{') ? JSON.parse(String(value)) : { text: value, sealed: null },
  write: (value) => {
    const address = value as Address;
    return address.sealed === null ? address.text : JSON.stringify(address);
  },
};

const purpose = (workspaceId: string, endpointId: string): string =>
  `webhook-url:${workspaceId}:${endpointId}`;

export function sealAddress(sealing: Sealing, workspaceId: string, endpointId: string, url: string): Address {
  const text = maskedUrl(url);
  if (text === url) return { text, sealed: null };
  const sealed = sealing.seal(url, purpose(workspaceId, endpointId));
  return { text, sealed: Buffer.from(sealed).toString('base64') };
}

export function openAddress(sealing: Sealing, workspaceId: string, { id, address }: Addressed): string {
  const { text, sealed } = address;
  if (sealed === null) return text;
  return sealing.open(new Uint8Array(Buffer.from(sealed, 'base64')), purpose(workspaceId, id));
}

export function shownAddress({ address }: Addressed): string {
  return maskedUrl(address.text);
}
