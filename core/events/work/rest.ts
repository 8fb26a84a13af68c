// Tells those who wait for a queue to have nothing to do.

interface Rest {
  /** Resolves once the queue is not busy. */
  begins(): Promise<void>;
  /** To be called whenever that may have begun. */
  look(): void;
}

export function createRest(isBusy: () => boolean): Rest {
  let waiters: (() => void)[] = [];
  const look = (): void => {
    if (isBusy()) return;
    const told = waiters;
    waiters = [];
    for (const resolve of told) resolve();
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
