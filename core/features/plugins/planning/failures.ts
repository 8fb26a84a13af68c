// Decides when a plugin is disabled: nearly all of its runs fail, or too many have to be killed. docs/spec/plugins.md › Disabling.
// The counts are in memory only; a restart resets them.
import { LRUCache } from 'lru-cache';

const windowMs = 3_600_000;
/**
 * Limits of run outcomes stored per install and in total. Beyond the total, the least recently updated
 * install loses its counts.
 */
const endingsMax = 1_000;
const trackedEndingsMax = 500_000;
const failedRunsMin = 20;
const failedRatioMax = 0.95;
/**
 * A killed run costs its full limits, a new isolate (3 ms) and a second attempt. One killed run in ten about
 * doubles the cost of a plugin, which is tolerable; a higher share is not accidental. Only the latest runs
 * count, so that a plugin that starts to kill its sandbox after thousands of good runs is disabled after ten
 * kills, not after hundreds.
 */
const killsMin = 3;
const killedRatioMax = 0.1;
const killsAmong = 100;

export type DisableReason = {
  readonly state: 'disabled_failures' | 'disabled_sandbox';
  readonly reason: string;
};

interface Ending {
  readonly failed: boolean;
  readonly killed: boolean;
}

export interface FailureWatch {
  /** Records the outcome of a run. Returns the reason if the plugin must be disabled now, otherwise null. */
  note(installId: string, ending: Ending): DisableReason | null;
  forget(installId: string): void;
}

/** @param trackedMax limit of outcomes stored for all installs together */
export function createFailureWatch(
  nowMs: () => number,
  trackedMax: number = trackedEndingsMax,
): FailureWatch {
  const endings = new LRUCache<string, (Ending & { readonly atMs: number })[]>({
    maxSize: trackedMax,
    sizeCalculation: (ofOne) => ofOne.length,
  });
  return {
    note(installId, { failed, killed }) {
      const now = nowMs();
      const recent = endings.get(installId) ?? [];
      recent.push({ atMs: now, failed, killed });
      while (recent.length > endingsMax || now - recent[0]!.atMs >= windowMs) recent.shift();
      // The cache computes the size only when it inserts a new value, so the entry is deleted first.
      endings.delete(installId);
      endings.set(installId, recent);
      if (!failed) return null;
      const latest = recent.slice(-killsAmong);
      const kills = latest.filter((one) => one.killed).length;
      if (killed && kills >= killsMin && kills >= latest.length * killedRatioMax)
        return {
          state: 'disabled_sandbox',
          reason: `${kills} of the last ${latest.length} runs had to be killed.`,
        };
      const failures = recent.filter((one) => one.failed).length;
      if (recent.length >= failedRunsMin && failures >= recent.length * failedRatioMax)
        return {
          state: 'disabled_failures',
          reason: `${failures} of the last ${recent.length} runs failed.`,
        };
      return null;
    },
    forget: (installId) => void endings.delete(installId),
  };
}
