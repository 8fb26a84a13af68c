// When to try again after a sidecar did not start: ever more slowly, until one starts.

const retryMs = { first: 100, most: 5000 };

export interface Retries {
  /** Starts that failed since the last that did not. */
  readonly failures: number;
  /** Nothing is to be started until it is tried again, or ever. */
  readonly isWaiting: boolean;
  failed(): void;
  succeeded(): void;
  /** Nothing is tried any more. */
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
