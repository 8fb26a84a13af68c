// Watches sidecars from outside: memory from /proc, life from answers to pings. Often while runs are in flight, rarely
// otherwise. Neither a pause of the core itself nor waiting for the processor is held against a sidecar.
import { threadsMax } from '../jail/core-side.ts';
import type { SidecarProcess } from './process.ts';
import { Starving } from './starving.ts';

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

export interface Watched {
  sidecars(): SidecarProcess[];
  /** Runs in flight in this sidecar. */
  load(sidecar: SidecarProcess): number;
  /** Kill it; `cause` says whom to ask. */
  condemn(sidecar: SidecarProcess, cause: 'memory' | 'silent' | 'fat' | 'threads', message: string): void;
}

export class Watch {
  #watched: Watched;
  #timer: Timer | undefined;
  #busy = false;
  #tickedAt = performance.now();
  #pingedAt = new WeakMap<SidecarProcess, number>();
  #starving = new Starving();
  /** Of the silence since the last ping: when the sidecar waited for the processor. */
  #starvedMs = new WeakMap<SidecarProcess, number>();
  #stopped = false;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#arm(idleTickMs);
  }

  /** A run starts: look often from now on. */
  wake(): void {
    if (this.#busy || this.#stopped) return;
    this.#busy = true;
    this.#tickedAt = performance.now();
    this.#arm(busyTickMs);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #arm(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tick(ms), ms);
  }

  #tick(expectedMs: number): void {
    const now = performance.now();
    const sinceMs = now - this.#tickedAt;
    const paused = sinceMs > expectedMs + ownPauseMs;
    this.#tickedAt = now;
    this.#busy = false;
    for (const sidecar of this.#watched.sidecars()) {
      const load = this.#watched.load(sidecar);
      if (load > 0) this.#busy = true;
      this.#checkLife(sidecar, now, load > 0, paused, sinceMs);
      this.#checkMemory(sidecar, load);
    }
    if (!this.#stopped) this.#arm(this.#busy ? busyTickMs : idleTickMs);
  }

  #checkLife(sidecar: SidecarProcess, now: number, busy: boolean, paused: boolean, sinceMs: number): void {
    const pingedAt = this.#pingedAt.get(sidecar);
    const answered = pingedAt === undefined || sidecar.heardAt >= pingedAt;
    if (!answered && !paused) {
      const starvedMs = this.#starvedFor(sidecar, sinceMs);
      const silentMs = now - pingedAt;
      if (silentMs - starvedMs > silentMsMax || silentMs > silentStarvingMsMax)
        this.#watched.condemn(sidecar, 'silent', `it was silent for ${silentMsMax} ms`);
    } else if (paused || pingedAt === undefined || now - pingedAt > (busy ? pingEveryMs : idlePingEveryMs)) {
      this.#pingedAt.set(sidecar, now);
      this.#starvedMs.delete(sidecar);
      this.#starving.forget(sidecar.pid);
      sidecar.send({ t: 'ping' });
    }
  }

  #starvedFor(sidecar: SidecarProcess, sinceMs: number): number {
    const before = this.#starvedMs.get(sidecar) ?? 0;
    const starvedMs = before + (this.#starving.waits(sidecar.pid) ? sinceMs : 0);
    this.#starvedMs.set(sidecar, starvedMs);
    return starvedMs;
  }

  #checkMemory(sidecar: SidecarProcess, load: number): void {
    const { rssBytes, pageTableBytes, threads } = sidecar.vitals();
    sidecar.rssSeenBytes = rssBytes;
    if (rssBytes > rssBytesMax)
      this.#watched.condemn(sidecar, 'memory', `it held ${Math.round(rssBytes / 1e6)} MB`);
    else if (pageTableBytes > pageTableBytesMax)
      this.#watched.condemn(sidecar, 'memory', `its page tables held ${Math.round(pageTableBytes / 1e6)} MB`);
    else if (threads > threadsMax) this.#watched.condemn(sidecar, 'threads', `it had ${threads} threads`);
    else if (load === 0 && rssBytes > idleRssBytesMax)
      this.#watched.condemn(sidecar, 'fat', 'it was idle and large');
  }
}
