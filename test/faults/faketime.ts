// libfaketime, https://github.com/wolfcw/libfaketime: processes with a shifted wall clock. Child processes inherit it,
// except those with a separate environment, such as the sidecars of plugins, which take the time from their core.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Locations of Debian, Fedora and `make install`. */
export const fakeTimeLibrary: string | null =
  ['/usr/lib', '/usr/lib64', '/usr/local/lib']
    .filter(existsSync)
    .flatMap((folder) => [folder, ...readdirSync(folder).map((name) => join(folder, name))])
    .map((folder) => join(folder, 'faketime/libfaketime.so.1'))
    .find(existsSync) ?? null;

/** Offset of this process's own wall clock in seconds. */
export const ownOffsetSeconds = Number(process.env.FAKETIME ?? 0);

/**
 * Additional environment of a process. As when a clock is set, timers follow the real monotonic clock.
 * @param time a constant offset in seconds, because a start moment would begin anew in each process; or a file that
 * contains an offset
 */
export function fakeTimeEnv(time: number | { file: string }): Record<string, string | undefined> {
  return {
    LD_PRELOAD: fakeTimeLibrary ?? undefined,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    // The variable would override the file.
    ...(typeof time === 'number'
      ? { FAKETIME: signed(time) }
      : { FAKETIME: undefined, FAKETIME_TIMESTAMP_FILE: time.file, FAKETIME_NO_CACHE: '1' }),
  };
}

export const signed = (seconds: number): string => (seconds < 0 ? String(seconds) : `+${seconds}`);
