/**
 * Settles like `work`, or rejects after the limit. The work continues after that, and its result is ignored.
 * @param late creates the error of the rejection
 */
export async function inTime<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), limitMs);
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
