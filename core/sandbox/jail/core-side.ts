/** What the core does for the jail from outside, by calls that Bun has no API for (Linux only). */
import { dlopen, FFIType, ptr } from 'bun:ffi';

const RLIMIT_DATA = 2;
const PR_SET_DUMPABLE = 4;
const { i32, ptr: pointer, u64 } = FFIType;

/**
 * Caps a process's private writable memory for good. Done from outside once Node runs: Bun, which the jail's entry is until then,
 * does not fit under the limit and may abort between setting it and becoming Node.
 */
export function capMemory(pid: number, bytes: number): boolean {
  const libc = dlopen('libc.so.6', { prlimit64: { args: [i32, i32, pointer, pointer], returns: i32 } });
  const both = new BigUint64Array([BigInt(bytes), BigInt(bytes)]);
  const capped = libc.symbols.prlimit64(pid, RLIMIT_DATA, ptr(both), null) === 0;
  libc.close();
  return capped;
}

/** Other processes of the same user may no longer read this one's memory or environment. */
export function hideProcess(): void {
  const libc = dlopen('libc.so.6', { prctl: { args: [i32, u64, u64, u64, u64], returns: i32 } });
  libc.symbols.prctl(PR_SET_DUMPABLE, 0n, 0n, 0n, 0n);
  libc.close();
}
