// Watches sidecars from outside: memory from /proc, life from answers to pings. Often while runs are in flight, rarely
// otherwise. Neither a pause of the core itself nor waiting for the processor is held against a sidecar.
import { threadsMax } from '../jail/core-side.ts';
import type { SidecarProcess } from './process.ts';
import { createStarving, type Starving } from './starving.ts';

const busyTickMs = 25;
const idleTickMs = 500;
const pingEveryMs = 200;
const idlePingEveryMs = 1000;
const silentMsMax = 600;
/** With the time it waited for the processor. */
const silentStarvingMsMax = 30_000;
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
  /** Kill it; `cause` says whom to ask. */
  condemn(sidecar: SidecarProcess, cause: Cause, message: string): void;
}

export interface Watch {
  /** A run starts: look often from now on. */
  wake(): void;
  stop(): void;
}

/** What is known of one sidecar's silence. */
interface Silence {
  /** When it was last asked for a sign of life. */
  pingedAt: number | undefined;
  /** How long of the time since then it waited for the processor. */
  starvedMs: number;
  readonly starving: Starving;
}

/** One look at all sidecars. */
interface Look {
  readonly now: number;
  readonly sinceMs: number;
  /** The core itself stood still since the last look. */
  readonly paused: boolean;
}

export function createWatch(watched: Watched): Watch {
  let timer: Timer | undefined;
  let busy = false;
  let tickedAt = performance.now();
  let stopped = false;
  /** It goes with the sidecar. */
  const silences = new WeakMap<SidecarProcess, Silence>();

  const silenceOf = (sidecar: SidecarProcess): Silence => {
    const known = silences.get(sidecar);
    if (known) return known;
    const made: Silence = { pingedAt: undefined, starvedMs: 0, starving: createStarving() };
    silences.set(sidecar, made);
    return made;
  };

  const checkLife = (sidecar: SidecarProcess, isBusy: boolean, { now, sinceMs, paused }: Look): void => {
    const silence = silenceOf(sidecar);
    const { pingedAt } = silence;
    const answered = pingedAt === undefined || sidecar.heardAt >= pingedAt;
    if (!answered && !paused) {
      if (silence.starving.waits(sidecar.pid)) silence.starvedMs += sinceMs;
      const silentMs = now - pingedAt;
      if (silentMs - silence.starvedMs > silentMsMax || silentMs > silentStarvingMsMax)
        watched.condemn(sidecar, 'silent', `it was silent for ${silentMsMax} ms`);
      return;
    }
    const pingEvery = isBusy ? pingEveryMs : idlePingEveryMs;
    if (!paused && pingedAt !== undefined && now - pingedAt <= pingEvery) return;
    silence.pingedAt = now;
    silence.starvedMs = 0;
    silence.starving.forget();
    sidecar.send({ t: 'ping' });
  };

  const checkMemory = (sidecar: SidecarProcess, load: number): void => {
    const { rssBytes, pageTableBytes, threads } = sidecar.vitals();
    sidecar.rssSeenBytes = rssBytes;
    if (rssBytes > rssBytesMax) watched.condemn(sidecar, 'memory', `it held ${megabytes(rssBytes)}`);
    else if (pageTableBytes > pageTableBytesMax)
      watched.condemn(sidecar, 'memory', `its page tables held ${megabytes(pageTableBytes)}`);
    else if (threads > threadsMax) watched.condemn(sidecar, 'threads', `it had ${threads} threads`);
    else if (load === 0 && rssBytes > idleRssBytesMax)
      watched.condemn(sidecar, 'fat', 'it was idle and large');
  };

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
      checkMemory(sidecar, load);
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

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
