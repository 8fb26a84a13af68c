// What may end a request, or the look-up of its host, before its time: a limit, or its caller. There is one listener at
// a time, which costs a tenth of what composed AbortSignals do.
import { EgressError } from './error.ts';
import type { StartTimer } from './exchange.ts';

export interface Ending {
  /** Why the request has ended early; null until it has. */
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

/** Settles as `work` does, or fails at the request's end. What `work` fails with after that is caught and dropped. */
export function untilEnded<T>(work: Promise<T>, ending: Ending): Promise<T> {
  return new Promise((resolve, reject) => {
    const over =
      <V>(settle: (value: V) => void) =>
      (value: V): void => {
        ending.listener = null;
        settle(value);
      };
    work.then(over(resolve), over(reject));
    if (ending.reason) reject(ending.reason);
    else ending.listener = reject;
  });
}

/** @throws EgressError timeout, when `work`, which looks up a host, takes longer than `limitMs` */
export async function within<T>(
  work: Promise<T>,
  limitMs: number,
  startTimer: StartTimer,
  host: string,
): Promise<T> {
  let stop = (): void => {};
  const late = new Promise<never>((_resolve, reject) => {
    stop = startTimer(
      () => reject(new EgressError('timeout', `DNS did not answer for ${host} in ${limitMs} ms.`)),
      limitMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    stop();
  }
}
