// The budget of one long read: processor time, after which it is interrupted, and again until it stops.
import { processMs } from '../lib/processor.ts';

/** A budget is of processor time; on a busy machine a read may take so many times as long, no longer: it keeps the log from being folded in. */
const patience = 5;
/** What had not quite begun when it was interrupted did not notice. */
export const interruptAgainMs = 20;

/**
 * Calls `interrupt` once a read has used its budget, and again until the returned function is called. What the process as a
 * whole has not used, the read has not: on a machine where it waits for a processor it goes on, for a while.
 * @param budgetMs 0 is unlimited
 */
export function watchBudget(budgetMs: number, interrupt: () => void): () => void {
  if (budgetMs === 0) return () => undefined;
  const startedMs = performance.now();
  const before = processMs();
  let timer: ReturnType<typeof setTimeout>;
  const look = (): void => {
    const leftMs = Math.min(
      budgetMs - (processMs() - before),
      budgetMs * patience - (performance.now() - startedMs),
    );
    if (leftMs <= 0) interrupt();
    timer = setTimeout(look, Math.max(leftMs, interruptAgainMs));
  };
  timer = setTimeout(look, budgetMs);
  return () => clearTimeout(timer);
}
