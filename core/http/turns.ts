// Turns at one object: those who lost a race for it plan anew one after the other, in the order in which they lost, so that many who
// change the same thing at once all get there.

export interface Turns {
  /** Does the work once nobody who came before is still at the same object. Rejects as the work does. */
  take<T>(object: string, work: () => Promise<T>): Promise<T>;
  /** True while somebody works at the object or waits for it. */
  isTaken(object: string): boolean;
}

export function createTurns(): Turns {
  /** The end of the last turn that was asked for. It holds as many as there are; the last of an object takes its entry away. */
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
