// Which installs may not share a sidecar with others: those whose run took a process down within the last hour, and those
// that were at work when one died and it was not clear whose fault it was. A run that ends well clears the latter.
import { LRUCache } from 'lru-cache';

const crashMemoryMs = 3_600_000;
/** Of each kind. An install that is forgotten because so many others crashed since shares a sidecar again. */
const installsHeldMax = 10_000;

export interface Strikes {
  /** A process died of this install's run. */
  crashed(installId: string): void;
  suspect(installId: string): void;
  /** A run ended without taking its process along. */
  survived(installId: string): void;
  quarantined(installId: string): boolean;
  forget(installId: string): void;
}

/** @param heldMax installs that are remembered at once */
export function createStrikes(clock: () => number, heldMax: number = installsHeldMax): Strikes {
  const crashedAtMs = new LRUCache<string, number>({ max: heldMax });
  const suspects = new LRUCache<string, true>({ max: heldMax });
  return {
    crashed: (installId) => void crashedAtMs.set(installId, clock()),
    suspect: (installId) => void suspects.set(installId, true),
    survived: (installId) => void suspects.delete(installId),
    quarantined(installId) {
      const atMs = crashedAtMs.get(installId);
      return suspects.has(installId) || (atMs !== undefined && atMs > clock() - crashMemoryMs);
    },
    forget(installId) {
      suspects.delete(installId);
      crashedAtMs.delete(installId);
    },
  };
}
