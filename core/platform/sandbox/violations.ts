// Decides which installs are quarantined, that is, may not share a sidecar with others: installs whose run crashed a process within
// the last hour, suspects (active when a process died and the culprit was unclear), and installs whose code was killed for its CPU
// time or memory within the last ten minutes. A run that ends without a crash clears a suspect.
import { LRUCache } from 'lru-cache';

const crashMemoryMs = 3_600_000;
const burnMemoryMs = 600_000;
/** Maximum number of installs per category. An evicted install may share a sidecar again. */
const installsTrackedMax = 10_000;

export interface Violations {
  /** Records that a run of this install crashed a process. */
  crashed(installId: string): void;
  suspect(installId: string): void;
  /** Records that a run was killed for its CPU time or memory. Applies to this code only, and stays when the plugin is re-enabled. */
  burned(installId: string, sha256: string): void;
  /** Records that a run ended without crashing its process. */
  survived(installId: string): void;
  quarantined(installId: string, sha256: string): boolean;
  /** Clears the crashes and suspicions of an install, but not the records of `burned`. */
  forget(installId: string): void;
}

/** @param trackedMax maximum number of installs stored per category */
export function createViolations(clock: () => number, trackedMax: number = installsTrackedMax): Violations {
  const isWithin = (atMs: number | undefined, ms: number): boolean =>
    atMs !== undefined && atMs > clock() - ms;
  const crashedAtMs = new LRUCache<string, number>({ max: trackedMax });
  const burnedAtMs = new LRUCache<string, number>({ max: trackedMax });
  const suspects = new LRUCache<string, true>({ max: trackedMax });
  return {
    crashed: (installId) => void crashedAtMs.set(installId, clock()),
    suspect: (installId) => void suspects.set(installId, true),
    burned: (installId, sha256) => void burnedAtMs.set(`${installId} ${sha256}`, clock()),
    survived: (installId) => void suspects.delete(installId),
    quarantined: (installId, sha256) =>
      suspects.has(installId) ||
      isWithin(crashedAtMs.get(installId), crashMemoryMs) ||
      (burnedAtMs.size > 0 && isWithin(burnedAtMs.get(`${installId} ${sha256}`), burnMemoryMs)),
    forget(installId) {
      suspects.delete(installId);
      crashedAtMs.delete(installId);
    },
  };
}
