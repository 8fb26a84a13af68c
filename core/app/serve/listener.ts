// Stops accepting new TCP connections on a port while established ones are still served. Closing the listener would reset
// connections in the accept queue, and Bun also closes idle connections then, which would reset requests in transit on them.
import { dlopen, FFIType, ptr } from 'bun:ffi';
import { readdirSync } from 'node:fs';

const { i32, ptr: pointer } = FFIType;

/** Constants of socket(7) on x86-64 and arm64. */
const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
const SO_ACCEPTCONN = 30;
const AF_UNIX = 1;

/** Byte 13 of the TCP header holds the flags; value 2 is SYN, which opens a connection (RFC 9293 §3.1). */
const flagsAt = 13;
const syn = 2;

/** Classic BPF program (Linux Documentation/networking/filter.rst): drops SYN packets and accepts all others. */
const dropsOpenings: readonly (readonly [code: number, yes: number, no: number, k: number])[] = [
  [0x30, 0, 0, flagsAt],
  [0x45, 0, 1, syn],
  [0x06, 0, 0, 0],
  [0x06, 0, 0, 0xffff_ffff],
];

/**
 * Drops new connection attempts: the peer retries a second later and is refused if the listener is closed by then.
 * @returns false if unsupported, on another system or C library
 */
export function takeNoMore(port: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const libc = openLibC();
    const fd = readdirSync('/proc/self/fd')
      .map(Number)
      .find((one) => listensOn(libc, one) === port);
    if (fd === undefined) return false;
    const program = programOf(dropsOpenings);
    const filter = new BigUint64Array([BigInt(dropsOpenings.length), BigInt(ptr(program))]);
    return libc.setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, filter, filter.byteLength) === 0;
  } catch {
    return false;
  }
}

function openLibC() {
  return dlopen('libc.so.6', {
    getsockopt: { args: [i32, i32, i32, pointer, pointer], returns: i32 },
    getsockname: { args: [i32, pointer, pointer], returns: i32 },
    setsockopt: { args: [i32, i32, i32, pointer, i32], returns: i32 },
  }).symbols;
}

/** Returns the port that a descriptor listens on; null for any other descriptor. */
function listensOn(libc: ReturnType<typeof openLibC>, fd: number): number | null {
  const listens = new Int32Array(1);
  if (libc.getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, listens, new Uint32Array([4])) !== 0) return null;
  if (listens[0] !== 1) return null;
  const address = new Uint8Array(128);
  if (libc.getsockname(fd, address, new Uint32Array([address.length])) !== 0) return null;
  const view = new DataView(address.buffer);
  if (view.getUint16(0, true) === AF_UNIX) return null;
  // The port follows the family in both IPv4 and IPv6 addresses, in network byte order.
  return view.getUint16(2);
}

function programOf(steps: typeof dropsOpenings): Uint8Array {
  const program = new DataView(new ArrayBuffer(steps.length * 8));
  for (const [index, [code, yes, no, k]] of steps.entries()) {
    program.setUint16(index * 8, code, true);
    program.setUint8(index * 8 + 2, yes);
    program.setUint8(index * 8 + 3, no);
    program.setUint32(index * 8 + 4, k, true);
  }
  return new Uint8Array(program.buffer);
}
