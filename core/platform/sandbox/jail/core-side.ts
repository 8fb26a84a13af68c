// Steps of the jail that the core takes from outside, by C calls that Bun has no API for (Linux only).
import { availableParallelism } from 'node:os';
import { dlopen, FFIType, ptr } from 'bun:ffi';

const RLIMIT_CORE = 4;
const RLIMIT_DATA = 2;
const RLIMIT_NPROC = 6;
const RLIMIT_AS = 9;
const PR_SET_DUMPABLE = 4;
const { i32, ptr: pointer, u64 } = FFIType;

/** Private writable memory. An isolate under --jitless needs little of it, so this limit is an effective cap. */
const dataBytesMax = 700 * 1024 * 1024;
/** A normal sidecar reserves 1 to 3 GB plus some per CPU; without a limit, page tables alone could use up the memory. */
const addressBytesMax = 16 * 1024 ** 3;
const addressBytesPerCpu = 256 * 1024 ** 2;
/** A normal sidecar has a few dozen threads plus isolated-vm's pool of one per CPU. */
export const threadsMax = 256 + 2 * availableParallelism();

export interface User {
  uid: number;
  gid: number;
}

/** Root without CAP_SYS_RESOURCE, as in most containers, may not limit the process of another user; that user may. */
export const limitTool = '/usr/bin/prlimit';

/**
 * Sets the hard resource limits of a sidecar. Runs from outside once Node runs: the jail's entry is Bun, which does not fit under the
 * limits and may abort between setting them and replacing itself with Node.
 * @param user the sidecar's own user, if it has one
 * @param alone true if no other threads count against the user's process limit
 * @returns true if all limits are set
 */
export async function capResources(pid: number, user: User | undefined, alone: boolean): Promise<boolean> {
  const limits: [resource: number, option: string, most: number][] = [
    [RLIMIT_DATA, 'data', dataBytesMax],
    [RLIMIT_AS, 'as', addressBytesMax + availableParallelism() * addressBytesPerCpu],
    [RLIMIT_CORE, 'core', 0],
  ];
  if (alone) limits.push([RLIMIT_NPROC, 'nproc', threadsMax]);
  if (user) {
    const options = limits.map(([, option, most]) => `--${option}=${most}:${most}`);
    const command = [limitTool, `--pid=${pid}`, ...options];
    return (
      (await Bun.spawn(command, { ...user, cwd: '/', env: {}, stdio: ['ignore', 'ignore', 'ignore'] })
        .exited) === 0
    );
  }
  const libc = dlopen('libc.so.6', { prlimit64: { args: [i32, i32, pointer, pointer], returns: i32 } });
  const capped = limits.every(([resource, , most]) => {
    const both = new BigUint64Array([BigInt(most), BigInt(most)]);
    return libc.symbols.prlimit64(pid, resource, ptr(both), null) === 0;
  });
  libc.close();
  return capped;
}

/** Prevents other processes of the same user from reading the memory or environment of this one. */
export function hideProcess(): void {
  const libc = dlopen('libc.so.6', { prctl: { args: [i32, u64, u64, u64, u64], returns: i32 } });
  libc.symbols.prctl(PR_SET_DUMPABLE, 0n, 0n, 0n, 0n);
  libc.close();
}
