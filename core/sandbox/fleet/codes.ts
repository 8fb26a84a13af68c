// Which bundles a sidecar holds, so that each crosses the wire once. Above a total the least recently used are forgotten.
import type { ToSidecar } from '../protocol.ts';

const codesTotalMax = 32 * 1024 * 1024;

export interface HeldCodes {
  /** Sends a bundle unless the process has it, and has it forget others above the total. */
  give(sha256: string, source: string, installId: string): void;
  /** Those that the install used last; another one that needs one of them is sent it again. */
  evict(installId: string): void;
}

export function createHeldCodes(send: (message: ToSidecar) => void): HeldCodes {
  /** The least recently used first, with the install that used each last. `codesTotalMax` bounds it. */
  const held = new Map<string, { readonly installId: string; readonly size: number }>();

  const forget = (codes: string[]): void => {
    if (codes.length === 0) return;
    for (const sha256 of codes) held.delete(sha256);
    send({ t: 'forget', codes });
  };

  return {
    give(sha256, source, installId) {
      if (!held.delete(sha256)) send({ t: 'code', sha256, source });
      held.set(sha256, { installId, size: source.length });
      let total = 0;
      for (const { size } of held.values()) total += size;
      for (const [oldest, { size }] of held) {
        if (total <= codesTotalMax || oldest === sha256) break;
        total -= size;
        forget([oldest]);
      }
    },
    evict: (installId) =>
      forget([...held].filter(([, code]) => code.installId === installId).map(([sha256]) => sha256)),
  };
}
