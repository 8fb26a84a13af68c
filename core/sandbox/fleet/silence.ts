// Checks that a sidecar is alive: it answers pings, or reads the output that waits for it. Time in which the sidecar or the core
// waits for the CPU does not count as silence.
import type { SidecarProcess } from './process.ts';
import { createStarving, type Starving } from './starving.ts';
import type { Watched } from './watch.ts';

const pingEveryMs = 200;
const idlePingEveryMs = 1000;
const silentMsMax = 600;
/** Limit that includes the time spent waiting for the CPU. */
const silentStarvingMsMax = 30_000;

interface Silence {
  /** Undefined before the first ping. */
  pingedAt: number | undefined;
  /** Time since the last ping in which the sidecar waited for the CPU. */
  starvedMs: number;
  readonly starving: Starving;
}

/** Timing of one pass over all sidecars, monotonic milliseconds. */
export interface Look {
  readonly now: number;
  readonly sinceMs: number;
  /** True if the core itself was suspended or blocked since the last pass. */
  readonly paused: boolean;
}

export function createLifeCheck({ condemn }: Pick<Watched, 'condemn'>) {
  const silences = new WeakMap<SidecarProcess, Silence>();

  const silenceOf = (sidecar: SidecarProcess): Silence => {
    const known = silences.get(sidecar);
    if (known) return known;
    const created: Silence = { pingedAt: undefined, starvedMs: 0, starving: createStarving() };
    silences.set(sidecar, created);
    return created;
  };

  return (sidecar: SidecarProcess, isBusy: boolean, { now, sinceMs, paused }: Look): void => {
    const silence = silenceOf(sidecar);
    const { pingedAt } = silence;
    const answered = pingedAt === undefined || sidecar.lastActiveAt >= pingedAt;
    if (!answered && !paused) {
      if (silence.starving.waits(sidecar.pid)) silence.starvedMs += sinceMs;
      const silentMs = now - pingedAt;
      if (silentMs - silence.starvedMs > silentMsMax || silentMs > silentStarvingMsMax)
        condemn(sidecar, 'silent', `silent for ${silentMsMax} ms`);
      return;
    }
    const everyMs = isBusy ? pingEveryMs : idlePingEveryMs;
    if (!paused && pingedAt !== undefined && now - pingedAt <= everyMs) return;
    silence.pingedAt = now;
    silence.starvedMs = 0;
    silence.starving.forget();
    sidecar.send({ t: 'ping' });
  };
}
