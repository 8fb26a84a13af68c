// Tracks the runs in flight in each sidecar, and the installs of runs that ended recently.
import { LRUCache } from 'lru-cache';
import type { SidecarProcess } from './fleet/process.ts';
import type { RunNonce } from './protocol.ts';
import type { ActiveRun } from './run/run.ts';

export interface InFlight {
  add(run: ActiveRun): void;
  remove(run: ActiveRun): void;
  find(nonce: RunNonce): ActiveRun | undefined;
  all(): ActiveRun[];
  of(sidecar: SidecarProcess): ActiveRun[];
  /** Number of runs in flight in this sidecar. */
  load(sidecar: SidecarProcess): number;
  /** Install of a run that is in flight or ended recently: a thread may turn out to be stuck after its run was given up. */
  installOf(nonce: RunNonce): string | undefined;
}

export function createInFlight(): InFlight {
  /** Bounded by the slots of the queue. */
  const runs = new Map<RunNonce, ActiveRun>();
  const loads = new WeakMap<SidecarProcess, number>();
  const ended = new LRUCache<RunNonce, string>({ max: 1000 });
  const load = (sidecar: SidecarProcess): number => loads.get(sidecar) ?? 0;
  return {
    add(run) {
      runs.set(run.nonce, run);
      loads.set(run.sidecar, load(run.sidecar) + 1);
    },
    remove(run) {
      if (!runs.delete(run.nonce)) return;
      loads.set(run.sidecar, load(run.sidecar) - 1);
      ended.set(run.nonce, run.job.installId);
    },
    find: (nonce) => runs.get(nonce),
    all: () => [...runs.values()],
    of: (sidecar) => [...runs.values()].filter((run) => run.sidecar === sidecar),
    load,
    installOf: (nonce) => runs.get(nonce)?.job.installId ?? ended.get(nonce),
  };
}
