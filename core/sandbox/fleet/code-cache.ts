// Tracks the bundles cached in a sidecar, so that a cached bundle is not sent again. Drops the least recently used bundles while the total
// size exceeds the limit.
import type { ToSidecar } from '../protocol.ts';

const codesTotalMax = 32 * 1024 * 1024;

export interface CodeCache {
  /** Sends a bundle unless the sidecar has it. Drops the least recently used bundles while the total size exceeds the limit. */
  give(sha256: string, source: string, installId: string): void;
  /** Drops the bundles that this install used last; if another install needs such a bundle, the bundle is sent again. */
  evict(installId: string): void;
}

export function createCodeCache(send: (message: ToSidecar) => void): CodeCache {
  /** Least recently used first, with the install that used each last. Bounded by `codesTotalMax`. */
  const cached = new Map<string, { readonly installId: string; readonly size: number }>();

  const forget = (codes: string[]): void => {
    if (codes.length === 0) return;
    for (const sha256 of codes) cached.delete(sha256);
    send({ t: 'forget', codes });
  };

  return {
    give(sha256, source, installId) {
      if (!cached.delete(sha256)) send({ t: 'code', sha256, source });
      cached.set(sha256, { installId, size: source.length });
      let total = 0;
      for (const { size } of cached.values()) total += size;
      for (const [oldest, { size }] of cached) {
        if (total <= codesTotalMax || oldest === sha256) break;
        total -= size;
        forget([oldest]);
      }
    },
    evict: (installId) =>
      forget([...cached].filter(([, code]) => code.installId === installId).map(([sha256]) => sha256)),
  };
}
