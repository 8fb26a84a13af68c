/**
 * Idle connections by key, limited in time, per key and in total. When the pool is full, the connection that has been idle longest
 * is closed.
 */

export interface Resting {
  idleSinceMs: number;
  /** Closes the connection; the owner then calls `remove`. */
  destroy(): void;
}

interface Idle<C extends Resting> {
  /** Takes the newest connection of a key, so that surplus ones expire. */
  take(key: string): C | undefined;
  add(key: string, connection: C): void;
  /** Must be called when a connection has closed, idle or not. */
  remove(key: string, connection: C): void;
  /** Stops the sweep for expired connections. */
  stop(): void;
}

/** Below the idle timeout of common servers (gunicorn 2 s, Node 5 s), so that writes rarely hit a connection just closed. */
const IDLE_TIMEOUT_MS = 1_000;
/** Large, because many endpoints may share one host. */
export const IDLE_PER_KEY_MAX = 256;
/** Bounds file descriptors: with one request per host, every connection stays idle until it expires. */
export const IDLE_MAX = 1_024;

export function createIdle<C extends Resting>(): Idle<C> {
  /** Idle connections in the order in which they became idle. */
  const all = new Set<C>();
  /** Idle connections by key, newest last. */
  const byKey = new Map<string, C[]>();
  let sweep: NodeJS.Timeout | null = null;

  const sweepSoon = (): void => {
    if (sweep) return;
    sweep = setTimeout(() => {
      sweep = null;
      const agedMs = performance.now() - IDLE_TIMEOUT_MS;
      for (const connection of all) {
        if (connection.idleSinceMs > agedMs) break;
        connection.destroy();
      }
      if (all.size > 0) sweepSoon();
    }, IDLE_TIMEOUT_MS / 2);
    sweep.unref();
  };

  const remove = (key: string, connection: C): void => {
    if (!all.delete(connection)) return;
    const ofKey = byKey.get(key) ?? [];
    ofKey.splice(ofKey.lastIndexOf(connection), 1);
    if (ofKey.length === 0) byKey.delete(key);
  };

  return {
    take(key) {
      const known = byKey.get(key)?.at(-1);
      if (!known) return undefined;
      remove(key, known);
      if (known.idleSinceMs > performance.now() - IDLE_TIMEOUT_MS) return known;
      known.destroy();
      return undefined;
    },
    add(key, connection) {
      const ofKey = byKey.get(key) ?? [];
      if (ofKey.length >= IDLE_PER_KEY_MAX) return connection.destroy();
      const [oldest] = all;
      if (oldest && all.size >= IDLE_MAX) oldest.destroy();
      connection.idleSinceMs = performance.now();
      ofKey.push(connection);
      byKey.set(key, ofKey);
      all.add(connection);
      sweepSoon();
    },
    remove,
    stop() {
      if (sweep) clearTimeout(sweep);
      sweep = null;
    },
  };
}
