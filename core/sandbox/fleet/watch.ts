/**
 * Watches sidecars from outside: memory from /proc, life from answers to pings. Often while runs are in flight, rarely otherwise.
 * Neither a pause of the core itself nor waiting for the processor is held against a sidecar.
 */
import { THREADS_MAX } from '../jail/core-side.ts';
import type { SidecarProcess } from './process.ts';
import { Starving } from './starving.ts';

const BUSY_TICK_MS = 25;
const IDLE_TICK_MS = 500;
const PING_EVERY_MS = 200;
const IDLE_PING_EVERY_MS = 1000;
const SILENT_MS_MAX = 600;
/** With the time it waited for the processor. */
const SILENT_STARVING_MS_MAX = 30_000;
const OWN_PAUSE_MS = 250;
const RSS_BYTES_MAX = 450 * 1024 * 1024;
/** Disposed isolates leave their pages in V8's pool; an idle process this fat is exchanged. */
const IDLE_RSS_BYTES_MAX = 380 * 1024 * 1024;
/** Two hundred warm isolates need 16 MB of page tables. */
const PAGE_TABLE_BYTES_MAX = 128 * 1024 * 1024;

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
    this.#arm(IDLE_TICK_MS);
  }

  /** A run starts: look often from now on. */
  wake(): void {
    if (this.#busy || this.#stopped) return;
    this.#busy = true;
    this.#tickedAt = performance.now();
    this.#arm(BUSY_TICK_MS);
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
    const paused = sinceMs > expectedMs + OWN_PAUSE_MS;
    this.#tickedAt = now;
    this.#busy = false;
    for (const sidecar of this.#watched.sidecars()) {
      const load = this.#watched.load(sidecar);
      if (load > 0) this.#busy = true;
      this.#checkLife(sidecar, now, load > 0, paused, sinceMs);
      this.#checkMemory(sidecar, load);
    }
    if (!this.#stopped) this.#arm(this.#busy ? BUSY_TICK_MS : IDLE_TICK_MS);
  }

  #checkLife(sidecar: SidecarProcess, now: number, busy: boolean, paused: boolean, sinceMs: number): void {
    const pingedAt = this.#pingedAt.get(sidecar);
    const answered = pingedAt === undefined || sidecar.heardAt >= pingedAt;
    if (!answered && !paused) {
      const starvedMs = this.#starvedFor(sidecar, sinceMs);
      const silentMs = now - pingedAt;
      if (silentMs - starvedMs > SILENT_MS_MAX || silentMs > SILENT_STARVING_MS_MAX)
        this.#watched.condemn(sidecar, 'silent', `it was silent for ${SILENT_MS_MAX} ms`);
    } else if (
      paused ||
      pingedAt === undefined ||
      now - pingedAt > (busy ? PING_EVERY_MS : IDLE_PING_EVERY_MS)
    ) {
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
    if (rssBytes > RSS_BYTES_MAX)
      this.#watched.condemn(sidecar, 'memory', `it held ${Math.round(rssBytes / 1e6)} MB`);
    else if (pageTableBytes > PAGE_TABLE_BYTES_MAX)
      this.#watched.condemn(sidecar, 'memory', `its page tables held ${Math.round(pageTableBytes / 1e6)} MB`);
    else if (threads > THREADS_MAX) this.#watched.condemn(sidecar, 'threads', `it had ${threads} threads`);
    else if (load === 0 && rssBytes > IDLE_RSS_BYTES_MAX)
      this.#watched.condemn(sidecar, 'fat', 'it was idle and large');
  }
}
