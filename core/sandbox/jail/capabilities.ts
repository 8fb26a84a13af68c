// Capabilities (Linux, capabilities.7): gives up all that this process holds and all that it could come to hold.
import { ptr } from 'bun:ffi';
import type { LibC } from './libc.ts';

const PR_CAPBSET_DROP = 24;
const PR_SET_SECUREBITS = 28;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4n;
/** User 0 is like any other from now on: SECBIT_NOROOT and SECBIT_NO_SETUID_FIXUP, both locked. */
const securebits = 0b1111n;
const capabilityCount = 64;
const version3 = 0x20080522;

/** Each step that is refused is one for which there was nothing to give up; the core looks at what is left. */
export function dropCapabilities(libc: LibC): void {
  libc.prctl(PR_SET_SECUREBITS, securebits, 0n, 0n, 0n);
  for (let one = 0; one < capabilityCount; one++) libc.prctl(PR_CAPBSET_DROP, BigInt(one), 0n, 0n, 0n);
  libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0n, 0n, 0n);
  const header = new Uint32Array([version3, 0]);
  const none = new Uint32Array(6);
  libc.capset(ptr(header), ptr(none));
}
