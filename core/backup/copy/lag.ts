// How much would be lost if the disk were lost now, and when that is too much.
import type { Clock } from '../../lib/clock.ts';
import type { Problems } from '../../lib/problems.ts';

/** More than this is told. */
const lagMsMax = 60_000;

export interface CopyLag {
  /** All that was committed until then can be restored from the copy. */
  safeUntil(monotonicMs: number): void;
  failed(message: string): void;
  /** Milliseconds. */
  lagMs(): number;
  lastError(): string | null;
  /** Tells whoever asks for problems. @param state what is going on, as a sentence @param fault what the copy lacks, however far it is */
  tell(state: string, fault: string | null): void;
}

export function createLag(options: {
  clock: Clock;
  problems: Problems;
  title: string;
  everyMs: number;
}): CopyLag {
  const { clock, problems, title, everyMs } = options;
  let safeMs = clock.monotonicMs();
  let lastError: string | null = null;
  const lagMs = (): number => clock.monotonicMs() - safeMs;
  return {
    safeUntil(monotonicMs) {
      safeMs = Math.max(safeMs, monotonicMs);
      lastError = null;
    },
    failed: (message) => void (lastError = message),
    lagMs,
    lastError: () => lastError,
    tell(state, fault) {
      if (lagMs() <= Math.max(lagMsMax, 3 * everyMs)) {
        if (fault === null) problems.clear('copy');
        else problems.raise('copy', `The continuous copy to ${title} is not whole. ${fault}`);
        return;
      }
      const cause = lastError === null ? '' : ` The last error: ${lastError}`;
      problems.raise(
        'copy',
        `The continuous copy to ${title} is ${Math.round(lagMs() / 1000)} s behind: ${state}${cause}`,
      );
    },
  };
}
