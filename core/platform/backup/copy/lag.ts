// Tracks the lag of the continuous copy, and raises a problem if it is too large.
import type { Clock } from '../../lib/time/clock.ts';
import type { Problems } from '../../lib/errors/failures.ts';

/** Lag above which a problem is raised; three times the interval of the copy if that is longer. */
const lagMsMax = 60_000;

export interface CopyLag {
  /** Records that all commits up to this time can be restored from the copy. */
  safeUntil(monotonicMs: number): void;
  failed(message: string): void;
  lagMs(): number;
  lastError(): string | null;
  /**
   * Raises or clears the problem `copy`.
   * @param state sentence about the current activity
   * @param fault sentence about missing parts of the copy, reported regardless of the lag
   */
  report(state: string, fault: string | null): void;
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
    report(state, fault) {
      if (lagMs() <= Math.max(lagMsMax, 3 * everyMs)) {
        if (fault === null) problems.clear('copy');
        else problems.raise('copy', `The continuous copy to ${title} is incomplete. ${fault}`);
        return;
      }
      const cause = lastError === null ? '' : ` Last error: ${lastError}`;
      problems.raise(
        'copy',
        `The continuous copy to ${title} is ${Math.round(lagMs() / 1000)} s behind: ${state} Check the destination and the connection to it.${cause}`,
      );
    },
  };
}
