// Manages the isolates of this process: loads one for a run, caches it for the next run of the same name, and drops it when idle.
// The core decides on evictions and on dropped bundles.
import type { ToSidecar } from '../protocol.ts';
import { GuestFault } from './meter.ts';
import { loadGuest, type Guest, type GuestHost } from './isolate.ts';

type RunOrder = Extract<ToSidecar, { t: 'run' }>;

const sweepEveryMs = 30_000;

export interface Isolates {
  /** Number of warm isolates, without those that have a run. */
  readonly count: number;
  setLimits(limits: { readonly isolatesMax: number; readonly idleMs: number }): void;
  know(sha256: string, source: string): void;
  forget(codes: readonly string[]): void;
  /** Removes the warm isolate of this name from the cache; returns it if its code and memory limit match. */
  takeWarm(order: RunOrder): Guest | undefined;
  /** @throws GuestFault */
  load(order: RunOrder): Promise<Guest>;
  retain(name: string, guest: Guest): void;
  evict(prefix: string): void;
}

export function createIsolates(host: GuestHost): Isolates {
  /** Source per SHA-256. The core bounds the total size with `forget`. */
  const codes = new Map<string, string>();
  /** Warm isolates, least recently used first: every run removes its isolate and adds it again. */
  const warm = new Map<string, Guest>();
  let isolatesMax = 200;
  let idleMs = 300_000;

  const drop = (name: string): void => {
    warm.get(name)?.isolate.dispose();
    warm.delete(name);
  };

  const load = async (order: RunOrder): Promise<Guest> => {
    const { sha256, limits, run } = order;
    const source = codes.get(sha256);
    if (source === undefined) throw new Error('The bundle was not sent.');
    const { guest, handlers } = await loadGuest(host, { sha256, source, limits, run });
    const mismatch = registeredWrong(order, JSON.parse(handlers) as string[]);
    if (mismatch === undefined) return guest;
    guest.isolate.dispose();
    throw mismatch;
  };

  setInterval(() => {
    const oldest = performance.now() - idleMs;
    for (const [name, guest] of warm) if (guest.lastUsedAt < oldest) drop(name);
  }, sweepEveryMs);

  return {
    get count() {
      return warm.size;
    },
    setLimits(limits) {
      ({ isolatesMax, idleMs } = limits);
    },
    know: (sha256, source) => void codes.set(sha256, source),
    forget(forgotten) {
      for (const sha256 of forgotten) codes.delete(sha256);
    },
    takeWarm(order) {
      const warmGuest = order.fresh ? undefined : warm.get(order.isolate);
      warm.delete(order.isolate);
      if (!warmGuest) return undefined;
      if (warmGuest.sha256 === order.sha256 && warmGuest.memoryMb === order.limits.memoryMb) {
        warmGuest.isolate.currentRun = order.run;
        return warmGuest;
      }
      warmGuest.isolate.dispose();
      return undefined;
    },
    load,
    retain(name, guest) {
      guest.lastUsedAt = performance.now();
      warm.set(name, guest);
      const [oldest] = warm.keys();
      if (warm.size > isolatesMax && oldest !== undefined) drop(oldest);
    },
    evict(prefix) {
      for (const name of warm.keys()) if (name.startsWith(prefix)) drop(name);
    },
  };
}

/** Returns a fault if the registered handlers differ from those that the manifest declares. */
function registeredWrong(order: RunOrder, registered: readonly string[]): GuestFault | undefined {
  const declared = order.handlers ?? registered;
  const missing = [...declared, order.handler].find((name) => !registered.includes(name));
  if (missing !== undefined)
    return new GuestFault(
      'startup',
      `The manifest declares ${missing}, but the code does not register it. Pack the plugin again.`,
    );
  const extra = registered.find((name) => !declared.includes(name));
  return extra === undefined
    ? undefined
    : new GuestFault(
        'startup',
        `The code registers ${extra}, but the manifest does not declare it. Pack the plugin again.`,
      );
}
