// libsql runs what is awaited on threads of its own, and nothing of ours but long reads is. They give way to the event loop,
// which would else have to share its processor with them.
import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** About a tenth of the loop's share, where both want a processor. */
const niceness = 10;
const threadName = 'tokio-runtime-w';

/** Where threads have no priorities of their own (they have on Linux), nothing is done. */
export function letReadersGiveWay(): void {
  try {
    for (const thread of readdirSync('/proc/self/task'))
      if (readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim() === threadName)
        setPriority(Number(thread), niceness);
  } catch {
    // Long reads then take a fair share of the processors.
  }
}
