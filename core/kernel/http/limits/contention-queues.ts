// Serializes writers that lost a race for an object: they plan again one after the other, in the order in
// which they lost, so that each of many concurrent writers succeeds.

export interface ContentionQueues {
  /** Runs the work after all earlier work on the same object. Rejects with the error of the work. */
  take<T>(object: string, work: () => Promise<T>): Promise<T>;
  /** True while work on the object is running or waiting. */
  isTaken(object: string): boolean;
}

export function createContentionQueues(): ContentionQueues {
  /** End of the last work in each queue. The last work of an object removes its entry, so that requests in progress bound the map. */
  const ends = new Map<string, Promise<void>>();
  return {
    isTaken: (object) => ends.has(object),
    async take(object, work) {
      const before = ends.get(object);
      const { promise: end, resolve } = Promise.withResolvers<void>();
      ends.set(object, end);
      try {
        await before;
        return await work();
      } finally {
        resolve();
        if (ends.get(object) === end) ends.delete(object);
      }
    },
  };
}
