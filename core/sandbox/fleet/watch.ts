// Watches sidecars from outside: memory from /proc, life from answers to pings. Often while runs are in flight, rarely
// otherwise. Neither a pause of the core itself nor waiting for the processor is held against a sidecar.
import { threadsMax } from '../jail/core-side.ts';
import type { SidecarProcess } from './process.ts';
import { createLifeCheck } from './silence.ts';

const busyTickMs = 25;
const idleTickMs = 500;
const ownPauseMs = 250;
const rssBytesMax = 450 * 1024 * 1024;
/** Disposed isolates leave their pages in V8's pool; an idle process this fat is exchanged. */
const idleRssBytesMax = 380 * 1024 * 1024;
/** Two hundred warm isolates need 16 MB of page tables. */
const pageTableBytesMax = 128 * 1024 * 1024;

type Cause = 'memory' | 'silent' | 'fat' | 'threads';

export interface Watched {
  sidecars(): SidecarProcess[];
  /** Runs in flight in this sidecar. */
  load(sidecar: SidecarProcess): number;
  /** Kills it. By `cause` it is decided whose fault that was. */
  condemn(sidecar: SidecarProcess, cause: Cause, message: string): void;
}

export interface Watch {
  /** A run starts: look often from now on. */
  wake(): void;
  stop(): void;
}

export function createWatch(watched: Watched): Watch {
  const checkLife = createLifeCheck(watched);
  let timer: Timer | undefined;
  let busy = false;
  let tickedAt = performance.now();
  let stopped = false;

  const arm = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => tick(ms), ms);
  };

  const tick = (expectedMs: number): void => {
    const now = performance.now();
    const sinceMs = now - tickedAt;
    const look = { now, sinceMs, paused: sinceMs > expectedMs + ownPauseMs };
    tickedAt = now;
    busy = false;
    for (const sidecar of watched.sidecars()) {
      const load = watched.load(sidecar);
      if (load > 0) busy = true;
      checkLife(sidecar, load > 0, look);
      checkMemory(watched, sidecar, load);
    }
    if (!stopped) arm(busy ? busyTickMs : idleTickMs);
  };

  arm(idleTickMs);
  return {
    wake() {
      if (busy || stopped) return;
      busy = true;
      tickedAt = performance.now();
      arm(busyTickMs);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function checkMemory(watched: Watched, sidecar: SidecarProcess, load: number): void {
  const { rssBytes, pageTableBytes, threads } = sidecar.vitals();
  sidecar.rssSeenBytes = rssBytes;
  if (rssBytes > rssBytesMax) watched.condemn(sidecar, 'memory', `it held ${megabytes(rssBytes)}`);
  else if (pageTableBytes > pageTableBytesMax)
    watched.condemn(sidecar, 'memory', `its page tables held ${megabytes(pageTableBytes)}`);
  else if (threads > threadsMax) watched.condemn(sidecar, 'threads', `it had ${threads} threads`);
  else if (load === 0 && rssBytes > idleRssBytesMax) watched.condemn(sidecar, 'fat', 'it was idle and large');
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
