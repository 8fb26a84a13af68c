// What may end a request before its answer: its total time, or its caller. One listener at a time is enough, and costs a
// tenth of what composed AbortSignals do.
import { EgressError } from './error.ts';
import type { StartTimer } from './exchange.ts';

export interface Ending {
  /** Null until it has come. */
  readonly reason: EgressError | null;
  listener: ((reason: EgressError) => void) | null;
  /** To be called when the request is over. */
  stop(): void;
}

export function startEnding(
  startTimer: StartTimer,
  totalTimeoutMs: number,
  signal: AbortSignal | undefined,
): Ending {
  const end = (reason: EgressError): void => {
    if (ending.reason) return;
    ending.reason = reason;
    ending.listener?.(reason);
  };
  const onAbort = (): void => end(new EgressError('aborted', 'The request was cancelled.'));
  const stopTimer = startTimer(
    () => end(new EgressError('timeout', `No whole answer within ${totalTimeoutMs} ms.`)),
    totalTimeoutMs,
  );
  const ending: Ending & { reason: EgressError | null } = {
    reason: null,
    listener: null,
    stop() {
      stopTimer();
      signal?.removeEventListener('abort', onAbort);
    },
  };
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort);
  return ending;
}
