// Work that has no limit of its own is waited for no longer than so.

/**
 * Settles as `work` does, or fails once that has taken longer. The work itself goes on, and what becomes of it then is dropped.
 * @param late what it fails with then
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
