// Whether a sidecar is alive: it answers pings, or takes what waits for it. The time in which it, or the core, waited for the
// processor does not count as silence.
import type { SidecarProcess } from './process.ts';
import { createStarving, type Starving } from './starving.ts';
import type { Watched } from './watch.ts';

const pingEveryMs = 200;
const idlePingEveryMs = 1000;
const silentMsMax = 600;
/** With the time it waited for the processor. */
const silentStarvingMsMax = 30_000;

/** What is known of one sidecar's silence. */
interface Silence {
  /** When it was last asked for a sign of life. */
  pingedAt: number | undefined;
  /** How long of the time since then it waited for the processor. */
  starvedMs: number;
  readonly starving: Starving;
}

/** One look at all sidecars. */
export interface Look {
  readonly now: number;
  readonly sinceMs: number;
  /** The core itself stood still since the last look. */
  readonly paused: boolean;
}

export function createLifeCheck({ condemn }: Pick<Watched, 'condemn'>) {
  /** An entry goes when its sidecar does. */
  const silences = new WeakMap<SidecarProcess, Silence>();

  const silenceOf = (sidecar: SidecarProcess): Silence => {
    const known = silences.get(sidecar);
    if (known) return known;
    const made: Silence = { pingedAt: undefined, starvedMs: 0, starving: createStarving() };
    silences.set(sidecar, made);
    return made;
  };

  return (sidecar: SidecarProcess, isBusy: boolean, { now, sinceMs, paused }: Look): void => {
    const silence = silenceOf(sidecar);
    const { pingedAt } = silence;
    const answered = pingedAt === undefined || sidecar.heardAt >= pingedAt;
    if (!answered && !paused) {
      if (silence.starving.waits(sidecar.pid)) silence.starvedMs += sinceMs;
      const silentMs = now - pingedAt;
      if (silentMs - silence.starvedMs > silentMsMax || silentMs > silentStarvingMsMax)
        condemn(sidecar, 'silent', `it was silent for ${silentMsMax} ms`);
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
