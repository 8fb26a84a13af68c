// Ends a request or its host lookup early, by timeout or by the caller. A single listener costs a tenth of
// composed AbortSignals.
import { EgressError } from './error.ts';
import type { StartTimer } from './exchange.ts';

export interface ExchangeEnding {
  /** Reason for the early end; null until then. */
  readonly reason: EgressError | null;
  listener: ((reason: EgressError) => void) | null;
  /** Must be called when the request is over. */
  stop(): void;
}

export function startEnding(
  startTimer: StartTimer,
  totalTimeoutMs: number,
  signal: AbortSignal | undefined,
): ExchangeEnding {
  const end = (reason: EgressError): void => {
    if (ending.reason) return;
    ending.reason = reason;
    ending.listener?.(reason);
  };
  const onAbort = (): void =>
    end(new EgressError('aborted', 'The request was canceled. Send it again if it is still needed.'));
  const stopTimer = startTimer(
    () =>
      end(
        new EgressError(
          'timeout',
          `The receiver sent no complete response within ${totalTimeoutMs} ms. Make the receiver respond faster.`,
        ),
      ),
    totalTimeoutMs,
  );
  const ending: ExchangeEnding & { reason: EgressError | null } = {
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

/** Settles like `work`, or rejects at the early end; later failures of `work` are ignored. */
export function untilEnded<T>(work: Promise<T>, ending: ExchangeEnding): Promise<T> {
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

/** @throws EgressError timeout if `work`, a host lookup, takes longer than `limitMs` */
export async function within<T>(
  work: Promise<T>,
  limitMs: number,
  startTimer: StartTimer,
  host: string,
): Promise<T> {
  let stop = (): void => {};
  const late = new Promise<never>((_resolve, reject) => {
    stop = startTimer(
      () =>
        reject(
          new EgressError(
            'timeout',
            `DNS did not respond for ${host} within ${limitMs} ms. Check the host name, and the DNS server of Tatami.`,
          ),
        ),
      limitMs,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    stop();
  }
}
