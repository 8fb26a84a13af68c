// Names the peer that a request without a token comes from. Behind proxies that the operator trusts it is the last address in
// X-Forwarded-For that none of them has: what stands left of it is the client's own claim. Without such proxies the header
// is not read at all.
import { isWithin, parseAddress, type Address, type Cidr } from '../lib/cidr.ts';

/** More hops than any chain of proxies has; what a client wrote before them is not looked at. */
const hopsMax = 32;
/** An IPv6 host owns its whole /64 (RFC 6177), so counting single addresses would count nothing. */
const networkBytes = 8;

/**
 * The name of a peer's buckets: its IPv4 address, or its IPv6 network.
 * @param socketAddress where the connection comes from
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
    const named = plain(parseAddress(withoutPort(hop.trim())));
    // A trusted proxy that names nobody is itself the best that is known.
    if (!named) break;
    peer = named;
  }
  if (peer.kind() === 'ipv4') return peer.toString();
  return `${Buffer.from(peer.toByteArray().slice(0, networkBytes)).toString('hex')}/64`;
}

/** So many addresses are told of: each is one line in the log. */
const toldMax = 8;

/**
 * Names peers as `peerName` does.
 * @param untrusted told once of each address that speaks for others and is not trusted: it may be a proxy that was not named
 */
export function createPeerNames(
  trusted: readonly Cidr[],
  untrusted: (address: string) => void,
): (socketAddress: string, forwardedFor: string | null) => string {
  const told = new Set<string>();
  return (socketAddress, forwardedFor) => {
    if (forwardedFor !== null && told.size < toldMax && !told.has(socketAddress)) {
      const address = plain(parseAddress(socketAddress));
      if (address && !isWithin(address, trusted)) {
        told.add(socketAddress);
        untrusted(address.toString());
      }
    }
    return peerName(socketAddress, forwardedFor, trusted);
  };
}

/** An IPv4 address that a dual-stack socket or proxy shows as IPv6 is that IPv4 address. */
function plain(address: Address | undefined): Address | undefined {
  return address && 'isIPv4MappedAddress' in address && address.isIPv4MappedAddress()
    ? address.toIPv4Address()
    : address;
}

function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop);
  if (bracketed) return bracketed[1]!;
  return /^\d+\.\d+\.\d+\.\d+:\d{1,5}$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop;
}
