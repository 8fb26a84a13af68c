// What the core does for the jail from outside, by calls that Bun has no API for (Linux only).
import { availableParallelism } from 'node:os';
import { dlopen, FFIType, ptr } from 'bun:ffi';

const RLIMIT_CORE = 4;
const RLIMIT_DATA = 2;
const RLIMIT_NPROC = 6;
const RLIMIT_AS = 9;
const PR_SET_DUMPABLE = 4;
const { i32, ptr: pointer, u64 } = FFIType;

/** Private writable memory of the process: with --jitless an isolate costs little of it, so that this is a real cap. */
const dataBytesMax = 700 * 1024 * 1024;
/** Honest ones reserve 1 to 3 GB, and each processor's threads some more; without a bound page tables alone would be memory. */
const addressBytesMax = 16 * 1024 ** 3;
const addressBytesPerCpu = 256 * 1024 ** 2;
/** Honest ones have some dozen, and those of isolated-vm's pool: one for each processor. */
export const threadsMax = 256 + 2 * availableParallelism();

export interface User {
  uid: number;
  gid: number;
}

/** Root without CAP_SYS_RESOURCE, as in most containers, may not limit another user's process; that user may. */
export const limitTool = '/usr/bin/prlimit';

/**
 * Caps what a sidecar may use, for good. Done from outside once Node runs: Bun, which the jail's entry is until then, does not fit
 * under the limits and may abort between setting them and becoming Node.
 * @param user its own, if it has one
 * @param alone nothing else is counted with its threads
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

/** Other processes of the same user may no longer read this one's memory or environment. */
export function hideProcess(): void {
  const libc = dlopen('libc.so.6', { prctl: { args: [i32, u64, u64, u64, u64], returns: i32 } });
  libc.symbols.prctl(PR_SET_DUMPABLE, 0n, 0n, 0n, 0n);
  libc.close();
}
