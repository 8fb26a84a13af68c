// Drops all capabilities that this process has or could gain (Linux, capabilities.7).
import { ptr } from 'bun:ffi';
import type { LibC } from './libc.ts';

const PR_CAPBSET_DROP = 24;
const PR_SET_SECUREBITS = 28;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4n;
/** SECBIT_NOROOT and SECBIT_NO_SETUID_FIXUP, both locked: user 0 no longer gains capabilities. */
const securebits = 0b1111n;
const capabilityCount = 64;
const version3 = 0x20080522;

/** Ignores errors, because the core checks the remaining capabilities. */
export function dropCapabilities(libc: LibC): void {
  libc.prctl(PR_SET_SECUREBITS, securebits, 0n, 0n, 0n);
  for (let one = 0; one < capabilityCount; one++) libc.prctl(PR_CAPBSET_DROP, BigInt(one), 0n, 0n, 0n);
  libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0n, 0n, 0n);
  const header = new Uint32Array([version3, 0]);
  const none = new Uint32Array(6);
  libc.capset(ptr(header), ptr(none));
}
