/**
 * Isolated-vm's timeout interrupts JavaScript, not a long built-in, and not the copying of a hostile rejection. An entry that outlives
 * its timeout is disposed of; one that does not settle even then holds a thread that only the death of this process frees.
 */
import type { Entry } from './isolate.ts';

const TICK_MS = 50;
const GRACE_MS = 300;
const SETTLE_MS = 150;

/** Isolates that are being loaded or entered; `onStuck` is called once per stuck entry. */
export function startWatchdog(entries: ReadonlySet<Entry>, onStuck: (entry: Entry) => void): void {
  const stuck = new WeakSet<Entry>();
  setInterval(() => {
    const now = performance.now();
    for (const entry of entries) {
      if (entry.disposedAt !== undefined) {
        if (now - entry.disposedAt > SETTLE_MS && !stuck.has(entry)) {
          stuck.add(entry);
          onStuck(entry);
        }
      } else if (now - entry.startedAt > entry.timeoutMs + GRACE_MS) {
        entry.disposedAt = now;
        entry.guest.dispose();
      }
    }
  }, TICK_MS);
}
