// When a plugin is switched off for the good of the others: it fails nearly always, or a good part of its runs has to be
// killed. docs/spec/plugins.md › Switching off. Counted in memory: a restart forgives.
import { LRUCache } from 'lru-cache';

const windowMs = 3_600_000;
/** Of one install, and of all. Where all have more, the install whose runs ended longest ago starts afresh. */
const endingsMax = 1_000;
const endingsHeldMax = 500_000;
const failedRunsMin = 20;
const failedShareMax = 0.95;
/**
 * A killed run costs what a run may cost, a new isolate (3 ms) and a second attempt. One in ten such runs makes a plugin about twice
 * as dear as it may be in any case, which the others can bear; more than that is no accident. The share is of the latest runs, so
 * that a plugin which begins to kill its sandbox after thousands of good runs is switched off after ten kills, not after hundreds.
 */
const killsMin = 3;
const killedShareMax = 0.1;
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
  /** Notes how a run ended; says when enough is enough. */
  note(installId: string, ending: Ending): DisableReason | null;
  forget(installId: string): void;
}

/** @param heldMax endings that are remembered of all installs together */
export function createFailureWatch(nowMs: () => number, heldMax: number = endingsHeldMax): FailureWatch {
  const endings = new LRUCache<string, (Ending & { readonly atMs: number })[]>({
    maxSize: heldMax,
    sizeCalculation: (ofOne) => ofOne.length,
  });
  return {
    note(installId, { failed, killed }) {
      const now = nowMs();
      const recent = endings.get(installId) ?? [];
      recent.push({ atMs: now, failed, killed });
      while (recent.length > endingsMax || now - recent[0]!.atMs >= windowMs) recent.shift();
      // Its size is taken when it is put in, and only of another value than the one that is there.
      endings.delete(installId);
      endings.set(installId, recent);
      if (!failed) return null;
      const latest = recent.slice(-killsAmong);
      const kills = latest.filter((one) => one.killed).length;
      if (killed && kills >= killsMin && kills >= latest.length * killedShareMax)
        return {
          state: 'disabled_sandbox',
          reason: `${kills} of the last ${latest.length} runs had to be killed.`,
        };
      const failures = recent.filter((one) => one.failed).length;
      if (recent.length >= failedRunsMin && failures >= recent.length * failedShareMax)
        return {
          state: 'disabled_failures',
          reason: `${failures} of the last ${recent.length} runs failed.`,
        };
      return null;
    },
    forget: (installId) => void endings.delete(installId),
  };
}
