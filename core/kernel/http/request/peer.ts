// Identifies the client of a request without a token. Behind trusted proxies it is the last address in X-Forwarded-For that is not one of
// them; addresses to its left are unverified claims of the client. Without trusted proxies the header is ignored.
import { isWithin, parseAddress, type IpAddress, type Cidr } from '../../../platform/lib/address.ts';

/** More hops than any chain of proxies has; earlier entries are ignored. */
const hopsMax = 32;
/** An IPv6 host owns its whole /64 (RFC 6177), so limits by single addresses would be ineffective. */
const networkBytes = 8;

/**
 * Returns the name of a client's rate-limit buckets: its IPv4 address, or its IPv6 network.
 * @param socketAddress remote address of the connection
 */
export function peerName(
  socketAddress: string,
  forwardedFor: string | null,
  trusted: readonly Cidr[],
): string {
  let peer = plain(parseAddress(socketAddress));
  if (!peer) return socketAddress;
  const hops = forwardedFor === null ? [] : forwardedFor.split(',').slice(-hopsMax);
  for (let hop = hops.pop(); hop !== undefined && isWithin(peer, trusted); hop = hops.pop()) {
    const client = plain(parseAddress(withoutPort(hop.trim())));
    // A trusted proxy that names no client counts as the client.
    if (!client) break;
    peer = client;
  }
  if (peer.kind() === 'ipv4') return peer.toString();
  return `${Buffer.from(peer.toByteArray().slice(0, networkBytes)).toString('hex')}/64`;
}

/** Maximum number of addresses that are reported, because each is a line in the log. */
const reportedMax = 8;

/**
 * Returns `peerName` for these proxies.
 * @param untrusted called once for each untrusted address that sends X-Forwarded-For: it may be a proxy missing in the configuration
 */
export function createPeerNames(
  trusted: readonly Cidr[],
  untrusted: (address: string) => void,
): (socketAddress: string, forwardedFor: string | null) => string {
  const reported = new Set<string>();
  return (socketAddress, forwardedFor) => {
    if (forwardedFor !== null && reported.size < reportedMax && !reported.has(socketAddress)) {
      const address = plain(parseAddress(socketAddress));
      if (address && !isWithin(address, trusted)) {
        reported.add(socketAddress);
        untrusted(address.toString());
      }
    }
    return peerName(socketAddress, forwardedFor, trusted);
  };
}

/** Converts an IPv4-mapped IPv6 address, as dual-stack sockets and proxies show it, to IPv4. */
function plain(address: IpAddress | undefined): IpAddress | undefined {
  return address && 'isIPv4MappedAddress' in address && address.isIPv4MappedAddress()
    ? address.toIPv4Address()
    : address;
}

function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop);
  if (bracketed) return bracketed[1]!;
  return /^\d+\.\d+\.\d+\.\d+:\d{1,5}$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop;
}
