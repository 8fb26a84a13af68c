// Stored positions of the readers of the log. One statement stores all positions of a workspace that have moved: along
// with the next background batch of the workspace, or in a batch of its own if there is none within a second.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import {
  backgroundCommitDelayMs,
  type Op,
  type Scope,
  scopeOf,
  type Store,
  tenantOp,
} from '../../../platform/store/store.ts';
import { cursorTable } from '../../tables.ts';

export const readCursor = cursorTable.select('read', ['sequence'], ['consumer']);
/** Moves a cursor from its known value; with `expectRows`, that value guards the batch against another process. */
export const moveCursor = tenantStatement(
  'cursors.move',
  `INSERT INTO cursors (workspace_id, consumer, sequence) VALUES (:ws, :consumer, :to)
   ON CONFLICT (workspace_id, consumer) DO UPDATE SET sequence = :to WHERE sequence = :from`,
);
/** Never moves a cursor back, because another process may have moved it further. */
const advance = tenantStatement(
  'cursors.advance',
  `INSERT INTO cursors (workspace_id, consumer, sequence) SELECT :ws, key, value FROM json_each(:positions) WHERE true
   ON CONFLICT (workspace_id, consumer) DO UPDATE SET sequence = max(sequence, excluded.sequence)`,
);

/** Delay after a failed attempt to store positions. */
const againMs = 1_000;

/** A reader of the log in all workspaces. */
export interface PositionSource {
  /** Key of its rows in `cursors`. */
  readonly consumer: string;
  /** Returns the workspaces whose position is in memory. */
  workspaces(): Iterable<string>;
  /** Returns the position up to which the events need not be read again; null if that is stored. */
  unstored(workspaceId: string): Unstored | null;
  /** Returns ops for the batch that stores a position. */
  opsAt?(scope: Scope, sequence: number): readonly Op[];
  /** Called once the position is durable. */
  stored(workspaceId: string, sequence: number): void;
}

interface Unstored {
  readonly sequence: number;
  /** False if it need not be stored without another batch: nothing followed from the events after the stored position. */
  readonly isDue: boolean;
}

interface Storing {
  readonly ops: readonly Op[];
  /** Call once the ops are durable. */
  stored(): void;
}

export interface Positions {
  add(source: PositionSource): void;
  /**
   * Stores the positions of a workspace after a delay in milliseconds, unless a batch has stored those that are due.
   * Failures are retried.
   */
  storeAfter(delayMs: number, workspaceId: string): void;
  /** Returns the ops that store the positions of a workspace along with a batch. */
  along(scope: Scope): Storing;
  /** @throws StoreError */
  store(scope: Scope): Promise<void>;
  /** Stores the positions that are due now. Failures are only logged. */
  settled(): Promise<void>;
  /** Stops the timers and stores the positions of all workspaces. Failures are only logged. */
  stop(): Promise<void>;
}

export function createPositions(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}): Positions {
  const { log } = options;
  const sources: PositionSource[] = [];
  const timers = createTimers(options.clock);
  let isStopped = false;

  const store = async (scope: Scope): Promise<void> => {
    const { ops, stored } = alongOf(sources, scope);
    if (ops.length === 0) return;
    const outcome = await options.store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
    if (!outcome.ok) throw new Error(`The positions could not be stored: ${outcome.message}`);
    stored();
  };
  /** A failure is only logged: events after the stored position are read again. */
  const tryToStore = async (workspaceId: string): Promise<boolean> => {
    try {
      await store(scopeOf(workspaceId));
      return true;
    } catch (error) {
      log('warn', 'cursors not stored', { workspaceId, error: errorForLog(error) });
      return false;
    }
  };
  const storeDue = async (workspaceId: string): Promise<void> => {
    const isDue = sources.some((source) => source.unstored(workspaceId)?.isDue);
    if (isDue && !(await tryToStore(workspaceId))) storeAfter(againMs, workspaceId);
  };
  const storeAfter = (delayMs: number, workspaceId: string): void => {
    if (isStopped) return;
    timers.start(workspaceId, delayMs, () => void storeDue(workspaceId));
  };
  return {
    add: (source) => void sources.push(source),
    storeAfter,
    along: (scope) => alongOf(sources, scope),
    store,
    async settled() {
      for (const workspaceId of timers.cancelAll()) await storeDue(workspaceId);
    },
    async stop() {
      isStopped = true;
      timers.cancelAll();
      const workspaces = new Set(sources.flatMap((source) => [...source.workspaces()]));
      // Together, so that the batches share commits.
      await Promise.all([...workspaces].map(tryToStore));
    },
  };
}

function alongOf(sources: readonly PositionSource[], scope: Scope): Storing {
  const moved = sources.flatMap((source) => {
    const unstored = source.unstored(scope.workspaceId);
    return unstored ? [{ source, sequence: unstored.sequence }] : [];
  });
  if (moved.length === 0) return { ops: [], stored: () => undefined };
  const positions = Object.fromEntries(moved.map(({ source, sequence }) => [source.consumer, sequence]));
  return {
    ops: [
      tenantOp(scope, advance, { positions: JSON.stringify(positions) }),
      ...moved.flatMap(({ source, sequence }) => source.opsAt?.(scope, sequence) ?? []),
    ],
    stored() {
      for (const { source, sequence } of moved) source.stored(scope.workspaceId, sequence);
    },
  };
}

/** One timer for each workspace with positions to store. */
function createTimers(clock: Clock) {
  const timers = new Map<string, { readonly dueMs: number; readonly cancel: () => void }>();
  return {
    /** A timer that runs already and ends earlier stays. */
    start(workspaceId: string, delayMs: number, run: () => void): void {
      const timer = timers.get(workspaceId);
      const dueMs = clock.monotonicMs() + delayMs;
      if (timer && timer.dueMs <= dueMs) return;
      timer?.cancel();
      const cancel = clock.after(delayMs, () => {
        timers.delete(workspaceId);
        run();
      });
      timers.set(workspaceId, { dueMs, cancel });
    },
    /** @returns the workspaces that had a timer */
    cancelAll(): readonly string[] {
      const workspaces = [...timers.keys()];
      for (const { cancel } of timers.values()) cancel();
      timers.clear();
      return workspaces;
    },
  };
}
