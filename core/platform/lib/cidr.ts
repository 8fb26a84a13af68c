// Parses IP addresses and CIDRs from configuration, peers and proxies.
import ipaddr from 'ipaddr.js';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
export type Cidr = [IpAddress, number];

/** Returns null if the text is not a CIDR such as 10.0.0.0/8. */
export function parseCidr(entry: string): Cidr | null {
  const valid = entry.includes(':')
    ? ipaddr.IPv6.isValidCIDR(entry)
    : ipaddr.IPv4.isValidCIDRFourPartDecimal(entry);
  return valid ? ipaddr.parseCIDR(entry) : null;
}

/** Returns undefined for everything but a plain IP address in a usual notation. */
export function parseAddress(text: string): IpAddress | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  // A zone id selects an interface, so the same text can mean different machines.
  if (text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text)) return ipaddr.IPv6.parse(text);
  return undefined;
}

export function isWithin(address: IpAddress, networks: readonly Cidr[]): boolean {
  return networks.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}
