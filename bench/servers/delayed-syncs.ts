// Simulates a disk with slow syncs, such as a cloud volume: a preloaded library that waits in `fsync` and `fdatasync` before
// calling the C library. It is compiled on demand.
import { join } from 'node:path';

const source = (delayMs: number): string => `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static void wait_as_a_disk(void) {
  struct timespec left = { 0, ${delayMs * 1_000_000}L };
  while (nanosleep(&left, &left) != 0);
}
int fsync(int file) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_as_a_disk();
  return real(file);
}
int fdatasync(int file) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_as_a_disk();
  return real(file);
}
`;

/**
 * Compiles a library that delays `fsync` and `fdatasync`.
 * @param folder folder to which the library is written
 * @returns environment variables for a process whose syncs take `delayMs` longer; null without a C compiler
 * @throws Error if the compilation fails
 */
export async function delayedSyncs(folder: string, delayMs: number): Promise<Record<string, string> | null> {
  const compiler = Bun.which('cc');
  if (compiler === null) return null;
  const [file, library] = [join(folder, 'delayed-syncs.c'), join(folder, 'delayed-syncs.so')];
  await Bun.write(file, source(delayMs));
  const { exitCode, stderr } = Bun.spawnSync([
    compiler,
    '-shared',
    '-fPIC',
    '-O2',
    '-o',
    library,
    file,
    '-ldl',
  ]);
  if (exitCode !== 0) throw new Error(`cc could not compile ${file}: ${stderr.toString()}`);
  return { LD_PRELOAD: library };
}
