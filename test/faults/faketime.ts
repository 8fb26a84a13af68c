// libfaketime, https://github.com/wolfcw/libfaketime: processes whose wall clock is off. What they start inherits it, but for
// what is given an environment of its own, such as the sidecars of plugins, which take the time from their core.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where Debian, Fedora and `make install` put it. */
export const fakeTimeLibrary: string | null =
  ['/usr/lib', '/usr/lib64', '/usr/local/lib']
    .filter(existsSync)
    .flatMap((folder) => [folder, ...readdirSync(folder).map((name) => join(folder, name))])
    .map((folder) => join(folder, 'faketime/libfaketime.so.1'))
    .find(existsSync) ?? null;

/** By how many seconds this process's own wall clock is off. */
export const ownOffsetSeconds = Number(process.env.FAKETIME ?? 0);

/**
 * Beside the environment of a process. Timers keep to the real monotonic clock, as they do when a clock is set.
 * @param time a constant offset in seconds, since a start moment would begin anew in each process; or a file that holds an offset
 */
export function fakeTimeEnv(time: number | { file: string }): Record<string, string | undefined> {
  return {
    LD_PRELOAD: fakeTimeLibrary ?? undefined,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    // The variable would win over the file.
    ...(typeof time === 'number'
      ? { FAKETIME: signed(time) }
      : { FAKETIME: undefined, FAKETIME_TIMESTAMP_FILE: time.file, FAKETIME_NO_CACHE: '1' }),
  };
}

export const signed = (seconds: number): string => (seconds < 0 ? String(seconds) : `+${seconds}`);
