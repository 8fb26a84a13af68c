// Notifies callers that wait until a queue is idle.

interface Rest {
  /** Resolves once the queue is not busy. */
  begins(): Promise<void>;
  /** Call whenever the queue may have become idle. */
  look(): void;
}

export function createRest(isBusy: () => boolean): Rest {
  let waiters: (() => void)[] = [];
  const look = (): void => {
    if (isBusy()) return;
    const resolvers = waiters;
    waiters = [];
    for (const resolve of resolvers) resolve();
  };
  return {
    look,
    begins: () =>
      new Promise((resolve) => {
        waiters.push(resolve);
        look();
      }),
  };
}
