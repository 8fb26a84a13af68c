// Looks at the clock on the wall now and then, so that what is planned follows it where it was set, and notes what it showed, so that the
// next start knows when it was set back in between. docs/decisions/0026.
import type { Clock } from '../lib/clock.ts';
import { errorForLog } from '../lib/failures.ts';
import type { Log } from '../lib/log.ts';
import { systemStatement } from '../store/statement.ts';
import { backgroundCommitDelayMs, systemOp, type Op, type Store } from '../store/store.ts';
import { neverMs } from './work-rows.ts';

const everyMs = 60_000;
/** What the clock is corrected by without being set. */
export const slewMs = 1_000;

const why = 'there is one clock for all workspaces';
const read = systemStatement<{ kind: string; seen_at: number }>(
  'wall_clock.read',
  why,
  'SELECT kind, seen_at FROM wall_clock',
);
const write = systemStatement(
  'wall_clock.write',
  why,
  `INSERT INTO wall_clock (kind, seen_at) SELECT value, :at FROM json_each(:kinds) WHERE true
   ON CONFLICT (kind) DO UPDATE SET seen_at = :at`,
);
/** Of work whose due times are intervals. */
const kinds = ['run', 'delivery', 'catch-up', 'replay'];
/** What a clock that is set back would keep waiting for too long. */
const waiting = systemStatement<{ waits: number }>(
  'due_work.waiting',
  why,
  `SELECT 1 AS waits FROM due_work WHERE kind IN ('run', 'delivery') AND lease_owner IS NULL AND due_at > :now AND due_at < ${neverMs}
   LIMIT 1`,
);

/** By kind of work, what the clock showed when an earlier process last followed it. */
export type SeenTimes = ReadonlyMap<string, number>;

export async function readSeenTimes(store: Store): Promise<SeenTimes> {
  return new Map((await store.readSystem(read)).map((row) => [row.kind, row.seen_at]));
}

/** The due times of these kinds follow the clock that shows this. */
export function noteSeenOp(of: readonly string[], atMs: number): Op {
  return systemOp(write, { kinds: JSON.stringify(of), at: atMs });
}

export interface WallClock {
  /** To be called once all have followed the clock of now. */
  start(): Promise<void>;
  /** To be called while all can still follow. */
  stop(): Promise<void>;
}

export function createWallClock(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Has all that is planned follow the clock; resolves once it has. */
  follow(): Promise<void>;
}): WallClock {
  const { store, clock, log } = options;
  let cancel = (): void => undefined;
  let looking = Promise.resolve();
  let isLooking = false;
  let isStopped = false;
  const offset = (): number => clock.nowMs() - clock.monotonicMs();
  let seenOffset = offset();

  const note = async (): Promise<void> => {
    await store.commit([noteSeenOp(kinds, clock.nowMs())], { commitDelayMs: backgroundCommitDelayMs });
  };

  const isWaiting = async (): Promise<boolean> =>
    (await store.readSystem(waiting, { now: clock.nowMs() })).length > 0;

  /** @param isLast nobody looks again, so that it is noted in any case */
  const look = async (isLast = false): Promise<void> => {
    const jumpMs = Math.round(offset() - seenOffset);
    seenOffset += jumpMs;
    const hasJumped = Math.abs(jumpMs) > slewMs;
    if (hasJumped) log('warn', 'the clock jumped', { byMs: jumpMs });
    // In any case: it may have jumped and come back, and something was planned meanwhile.
    await options.follow();
    if (hasJumped || isLast || (await isWaiting())) await note();
  };

  const failed = (error: unknown): void =>
    log('warn', 'the clock could not be followed', { error: errorForLog(error) });

  const watch = (): void => {
    cancel = clock.after(everyMs, () => {
      if (!isLooking) {
        isLooking = true;
        looking = look()
          .catch(failed)
          .finally(() => (isLooking = false));
      }
      if (!isStopped) watch();
    });
  };

  return {
    async start() {
      await note().catch(failed);
      watch();
    },
    async stop() {
      isStopped = true;
      cancel();
      await looking;
      if (store.status().writable) await look(true).catch(failed);
    },
  };
}
