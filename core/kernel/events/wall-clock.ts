// Polls the wall clock so that planned times follow clock changes, and stores the observed time so that the
// next start detects a clock that was set back in between. See docs/decisions/0026.
import type { Clock } from '../../platform/lib/time/clock.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import type { Log } from '../../platform/lib/log.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { backgroundCommitDelayMs, systemOp, type Op, type Store } from '../../platform/store/store.ts';
import { neverMs } from './work/rows.ts';
import type { RowOf } from '../table/define.ts';
import type { wallClockTable } from '../tables.ts';

const everyMs = 60_000;
/** Deviation that clock synchronization causes without setting the clock. */
export const slewMs = 1_000;

const why = 'all workspaces share one clock';
const read = systemStatement<RowOf<typeof wallClockTable>>(
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
/** Types of work whose due times are intervals. */
const kinds = ['run', 'delivery', 'catch-up', 'replay'];
/** Finds work with a future due time, which a clock that is set back would delay. */
const waiting = systemStatement<{ waits: number }>(
  'due_work.waiting',
  why,
  `SELECT 1 AS waits FROM due_work WHERE kind IN ('run', 'delivery') AND lease_owner IS NULL AND due_at > :now AND due_at < ${neverMs}
   LIMIT 1`,
);

/** Wall-clock time at which due times were last adjusted to the clock, by type of work. */
export type SeenTimes = ReadonlyMap<string, number>;

export async function readSeenTimes(store: Store): Promise<SeenTimes> {
  return new Map((await store.readSystem(read)).map((row) => [row.kind, row.seen_at]));
}

/** Records that the due times of these types follow the clock at this time. */
export function noteSeenOp(of: readonly string[], atMs: number): Op {
  return systemOp(write, { kinds: JSON.stringify(of), at: atMs });
}

export interface WallClock {
  /** Call once all due times follow the current clock. */
  start(): Promise<void>;
  /** Adjusts due times a last time. Call before the work queues and the store stop. */
  stop(): Promise<void>;
}

export function createWallClock(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Adjusts all due times to the clock. */
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

  /** @param isLast true for the last poll, which always stores the time */
  const look = async (isLast = false): Promise<void> => {
    const jumpMs = Math.round(offset() - seenOffset);
    seenOffset += jumpMs;
    const hasJumped = Math.abs(jumpMs) > slewMs;
    if (hasJumped) log('warn', 'clock jumped', { byMs: jumpMs });
    // Always called: the clock may have jumped and returned while work was planned.
    await options.follow();
    if (hasJumped || isLast || (await isWaiting())) await note();
  };

  const failed = (error: unknown): void =>
    log('warn', 'due times could not follow the clock', { error: errorForLog(error) });

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
