// Addresses and networks as text: an operator's lists of CIDRs, and what a peer or a proxy says its address is.
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Cidr = [Address, number];

/** Null where it is not a CIDR such as 10.0.0.0/8. */
export function parseCidr(entry: string): Cidr | null {
  const valid = entry.includes(':')
    ? ipaddr.IPv6.isValidCIDR(entry)
    : ipaddr.IPv4.isValidCIDRFourPartDecimal(entry);
  return valid ? ipaddr.parseCIDR(entry) : null;
}

/** Undefined for everything but a plain IP address, in one of its usual spellings. */
export function parseAddress(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  // A zone id chooses an interface, so the same text can mean different machines.
  if (text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text)) return ipaddr.IPv6.parse(text);
  return undefined;
}

export function isWithin(address: Address, networks: readonly Cidr[]): boolean {
  return networks.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}
