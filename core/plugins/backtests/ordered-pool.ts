// Runs tasks concurrently, and completes them in the order in which they started.

export interface OrderedPool {
  /** Waits until another task can start. @throws the error of a failed task */
  waitForCapacity(): Promise<void>;
  /**
   * @param begin starts the task; its argument resolves when all earlier tasks have completed, and the task
   * must not finish before that
   * @param end receives the result, in the order of the starts; its promise delays only the start of further
   * tasks
   */
  join<Result>(
    begin: (before: Promise<void>) => Promise<Result>,
    end: (result: Result) => Promise<void>,
  ): void;
  /** Waits for all tasks. @throws the error of a failed task */
  drained(): Promise<void>;
}

export function createOrderedPool(underWayMax: number): OrderedPool {
  const underWay = new Set<Promise<void>>();
  let last: Promise<void> = Promise.resolve();
  let stopped: { readonly by: unknown } | null = null;
  const stop = (by: unknown): void => void (stopped ??= { by });
  const throwIfStopped = (): void => {
    if (stopped) throw stopped.by;
  };

  return {
    async waitForCapacity() {
      while (underWay.size >= underWayMax) await Promise.race(underWay);
      throwIfStopped();
    },
    join(begin, end) {
      const begun = begin(last);
      const ending = Promise.withResolvers<void>();
      const whole = begun
        .then(async (result) => {
          throwIfStopped();
          const ended = end(result);
          ending.resolve();
          await ended;
        })
        .catch(stop)
        .finally(() => {
          ending.resolve();
          underWay.delete(whole);
        });
      last = ending.promise;
      underWay.add(whole);
    },
    async drained() {
      while (underWay.size > 0) await Promise.race(underWay);
      throwIfStopped();
    },
  };
}
