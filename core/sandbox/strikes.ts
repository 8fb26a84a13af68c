// Which installs may not share a sidecar with others: those whose run took a process down within the last hour, those that were at
// work when one died and it was not clear whose fault it was, and those whose code was lately killed for its processor time or
// memory. A run that ends well clears the second kind.
import { LRUCache } from 'lru-cache';

const crashMemoryMs = 3_600_000;
const burnMemoryMs = 600_000;
/** Of each kind. An install that is forgotten because so many others crashed since shares a sidecar again. */
const installsHeldMax = 10_000;

export interface Strikes {
  /** A process died of this install's run. */
  crashed(installId: string): void;
  suspect(installId: string): void;
  /** A run was killed for what it used. Other code of the same install is not to blame, and switching the plugin on again changes nothing. */
  burned(installId: string, sha256: string): void;
  /** A run ended without taking its process along. */
  survived(installId: string): void;
  quarantined(installId: string, sha256: string): boolean;
  /** But for what its present code has burned. */
  forget(installId: string): void;
}

/** @param heldMax installs that are remembered at once */
export function createStrikes(clock: () => number, heldMax: number = installsHeldMax): Strikes {
  const isWithin = (atMs: number | undefined, ms: number): boolean =>
    atMs !== undefined && atMs > clock() - ms;
  const crashedAtMs = new LRUCache<string, number>({ max: heldMax });
  const burnedAtMs = new LRUCache<string, number>({ max: heldMax });
  const suspects = new LRUCache<string, true>({ max: heldMax });
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
