// Interrupts of the terminal, which end other commands at once.
import { exitCodes } from './output.ts';

/** Returns a signal that the first Ctrl-C or SIGTERM aborts, for a command that ends in its own time. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  process.once('SIGINT', () => {
    process.exitCode = exitCodes.interrupted;
    stop.abort();
  });
  process.once('SIGTERM', () => stop.abort());
  return stop.signal;
}

/** Time in which an interrupt that came before, such as one that ended an editor, reaches its listener. */
const arrivalMs = 20;

/**
 * Gives interrupts to `handle`.
 * @param how `once` lets a second interrupt end the process
 * @returns a function that gives them back
 */
export function takeInterrupts(handle: () => void, how: 'on' | 'once'): () => void {
  const others = process.rawListeners('SIGINT') as NodeJS.SignalsListener[];
  process[how]('SIGINT', handle);
  for (const other of others) process.off('SIGINT', other);
  const giveBack = (): void => {
    for (const other of others) process.on('SIGINT', other);
    process.off('SIGINT', handle);
  };
  return () => void setTimeout(giveBack, arrivalMs);
}
