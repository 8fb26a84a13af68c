// When to try again after a sidecar did not start: ever more slowly, until one starts.

const retryMs = { first: 100, most: 5000 };

export interface Retries {
  /** Starts that failed since the last that did not. */
  readonly failures: number;
  readonly isWaiting: boolean;
  failed(): void;
  succeeded(): void;
  stop(): void;
}

export function createRetries(tryAgain: () => void): Retries {
  let failures = 0;
  let timer: Timer | undefined;
  return {
    get failures() {
      return failures;
    },
    get isWaiting() {
      return timer !== undefined;
    },
    failed() {
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
    stop: () => clearTimeout(timer),
  };
}
