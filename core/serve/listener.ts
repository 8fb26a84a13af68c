// Has the kernel take no more connections for a port, while those it has taken are served on. Closing the listener would reset the ones
// that it has taken and nobody has accepted yet, and Bun closes the idle connections along with it, so that a request which is
// on its way on one of them would be reset as well.
import { dlopen, FFIType, ptr } from 'bun:ffi';
import { readdirSync } from 'node:fs';

const { i32, ptr: pointer } = FFIType;

/** Of socket(7), as they are on x86-64 and arm64. */
const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
const SO_ACCEPTCONN = 30;
const AF_UNIX = 1;

/** The 14th byte of a TCP header holds its flags, the second of which opens a connection (RFC 9293 §3.1). */
const flagsAt = 13;
const syn = 2;

/** A classic BPF program (Documentation/networking/filter.rst of the kernel): drops what opens a connection, takes all else. */
const dropsOpenings: readonly (readonly [code: number, yes: number, no: number, k: number])[] = [
  [0x30, 0, 0, flagsAt],
  [0x45, 0, 1, syn],
  [0x06, 0, 0, 0],
  [0x06, 0, 0, 0xffff_ffff],
];

/**
 * Whoever connects from now on gets no answer, tries again a second later, and is refused if the listener is closed by then.
 * @returns false where that cannot be had: another system, another C library
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

/** The port that a descriptor listens on; null for any other descriptor. */
function listensOn(libc: ReturnType<typeof openLibC>, fd: number): number | null {
  const listens = new Int32Array(1);
  if (libc.getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, listens, new Uint32Array([4])) !== 0) return null;
  if (listens[0] !== 1) return null;
  const address = new Uint8Array(128);
  if (libc.getsockname(fd, address, new Uint32Array([address.length])) !== 0) return null;
  const view = new DataView(address.buffer);
  if (view.getUint16(0, true) === AF_UNIX) return null;
  // Of IPv4 and IPv6 alike the port follows the family, in network order.
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
