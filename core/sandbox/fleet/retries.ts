// Schedules retries after failed starts of a sidecar, with exponential backoff.

const retryMs = { first: 100, most: 5000 };

export interface Retries {
  /** Number of failed starts since the last successful one. */
  readonly failures: number;
  /** True until the next retry, and always after `stop`. */
  readonly isWaiting: boolean;
  failed(): void;
  succeeded(): void;
  /** Cancels the pending retry and prevents further ones. */
  stop(): void;
}

export function createRetries(tryAgain: () => void): Retries {
  let failures = 0;
  let timer: Timer | undefined;
  let stopped = false;
  return {
    get failures() {
      return failures;
    },
    get isWaiting() {
      return stopped || timer !== undefined;
    },
    failed() {
      if (stopped) return;
      clearTimeout(timer);
      timer = setTimeout(
        () => {
          timer = undefined;
          tryAgain();
        },
        Math.min(retryMs.first * 2 ** failures++, retryMs.most),
      );
    },
    succeeded() {
      failures = 0;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
