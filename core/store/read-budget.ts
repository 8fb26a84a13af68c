// CPU time budget of one long read: interrupts the read when the budget is used up, and repeats the interrupt until the read stops.
import { processMs } from '../lib/cpu.ts';

/** Wall time limit as a multiple of the CPU time budget. It bounds reads on a busy machine, because a long read blocks the checkpoint. */
const patience = 5;
/** Interval of repeated interrupts: an interrupt is lost if it precedes the start of the query. */
export const interruptAgainMs = 20;

/**
 * Calls `interrupt` when a read has used its budget, and repeatedly until the returned function is called. Measures the CPU time of the
 * process, which is an upper bound for the read: a read that waits for a CPU may continue, up to the wall time limit.
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
