// Work that is begun in order, is under way beside each other, and ends in the order in which it was begun.

export interface Convoy {
  /** Waits until another may join. @throws what stopped one of those that joined */
  room(): Promise<void>;
  /**
   * @param begin is given what resolves once those before have ended; it ends behind that
   * @param end is called with what came of it, in order; what it waits for holds up nobody but those that would join
   */
  join<Result>(
    begin: (before: Promise<void>) => Promise<Result>,
    end: (result: Result) => Promise<void>,
  ): void;
  /** Waits for all. @throws what stopped one of them */
  arrived(): Promise<void>;
}

export function createConvoy(underWayMax: number): Convoy {
  const underWay = new Set<Promise<void>>();
  let last: Promise<void> = Promise.resolve();
  let stopped: { readonly by: unknown } | null = null;
  const stop = (by: unknown): void => void (stopped ??= { by });
  const throwIfStopped = (): void => {
    if (stopped) throw stopped.by;
  };

  return {
    async room() {
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
    async arrived() {
      while (underWay.size > 0) await Promise.race(underWay);
      throwIfStopped();
    },
  };
}
