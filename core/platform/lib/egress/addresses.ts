/**
 * Decides which addresses the core may connect to. Everything in the IANA special-purpose registries (RFC 6890 and its updates) is
 * refused unless the operator's allow-list contains it. For IPv6 only global unicast space (2000::/3) counts as public, so that
 * ranges assigned in the future are refused. Metadata services and the server's own port have stricter rules.
 */
import ipaddr from 'ipaddr.js';
import { parseAddress, parseCidr, type IpAddress, type Cidr } from '../address.ts';

export interface AddressPolicy {
  allow: readonly Cidr[];
  /** Port of this server; undefined until the server listens. */
  ownPort: () => number | undefined;
  /** Addresses of this machine's interfaces. */
  localAddresses: () => readonly string[];
}

export interface Permitted {
  /** Canonical notation, used to connect. */
  address: string;
  /** True if the allow-list contains the address; plain http is then allowed. */
  opened: boolean;
}

/** `refused` completes the sentence "leads to …". */
export type Verdict = Permitted | { refused: string };

/** Addresses of cloud services that return credentials of the machine; some look public. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set([
  '169.254.169.254', // AWS, Azure, GCP, DigitalOcean, Hetzner …
  '169.254.170.2', // AWS ECS task credentials
  '169.254.170.23', // AWS EKS pod identity
  '169.254.42.42', // Scaleway
  '100.100.100.200', // Alibaba
  '192.0.0.192', // Oracle
  '168.63.129.16', // Azure host endpoint, in public space
  'fd00:ec2::254', // AWS
  'fd00:ec2::23', // AWS EKS pod identity
  'fd20:ce::254', // GCP
  'fd00:42::42', // Scaleway
]);

const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];

/** @throws Error naming an entry that is not a CIDR */
export function parseAllowList(entries: readonly string[]): Cidr[] {
  return entries.map((entry) => {
    const cidr = parseCidr(entry);
    if (cidr) return cidr;
    throw new Error(
      `egress allow-list: "${entry}" is not a CIDR; use a form such as 10.0.0.0/8 or 192.168.1.20/32`,
    );
  });
}

/** Judges one literal address or one DNS answer, for one port. */
export function judgeAddress(text: string, port: number, policy: AddressPolicy): Verdict {
  const parsed = parseAddress(text);
  if (parsed === undefined) return { refused: 'something that is not a plain IP address; use another host' };
  const address = parsed.toString();
  if (port === policy.ownPort() && isOwnAddress(parsed, policy)) {
    return { refused: "this server's own listening port; use another address" };
  }
  const opened = isOpened(parsed, policy.allow);
  if (!opened && !isPublic(parsed)) {
    return {
      refused: `an address that is not public (${describe(parsed)}); the operator can open it with --egress-allow`,
    };
  }
  return { address, opened };
}

function isPublic(address: IpAddress): boolean {
  if (METADATA_ADDRESSES.has(address.toString())) return false;
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

/** Returns true if the address is allowed, and an embedded IPv4 address is public or allowed. */
function isOpened(address: IpAddress, allow: readonly Cidr[]): boolean {
  const inner = embeddedIpv4(address);
  if (inner !== undefined && !isPublic(inner) && !isOpened(inner, allow)) return false;
  const isMetadata = METADATA_ADDRESSES.has(address.toString());
  const wholeLength = address.kind() === 'ipv4' ? 32 : 128;
  return allow.some(
    ([network, bits]) =>
      network.kind() === address.kind() &&
      // A wide entry for a private network must not also expose the machine's credentials.
      (!isMetadata || bits === wholeLength) &&
      address.match(network, bits),
  );
}

function isOwnAddress(address: IpAddress, policy: AddressPolicy): boolean {
  const effective = embeddedIpv4(address) ?? address;
  const range = effective.range();
  if (range === 'loopback' || range === 'unspecified') return true;
  const spelling = effective.toString();
  return policy.localAddresses().some((local) => parseAddress(local)?.toString() === spelling);
}

/** IPv4-mapped (RFC 4291 §2.5.5.2), NAT64 (RFC 6052) and 6to4 (RFC 3056) addresses reach the embedded IPv4 address. */
function embeddedIpv4(address: IpAddress): ipaddr.IPv4 | undefined {
  if (address instanceof ipaddr.IPv4) return undefined;
  const bytes = address.toByteArray();
  if (address.isIPv4MappedAddress() || address.match(NAT64)) return new ipaddr.IPv4(bytes.slice(12, 16));
  if (address.range() === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  return undefined;
}

function describe(address: IpAddress): string {
  if (METADATA_ADDRESSES.has(address.toString())) return 'a cloud metadata service';
  const range = address.range();
  return range === 'unicast' ? 'outside global unicast space' : `range: ${range}`;
}
