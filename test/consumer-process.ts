// A process with one consumer of events on a database of its own, for the tests of consumers.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type OpenedStore } from '../core/platform/store/open-store.ts';
import { systemStatement, tenantStatement } from '../core/platform/store/statement.ts';
import { scopeOf, tenantOp, type Scope } from '../core/platform/store/store.ts';
import { appendEvents, type NewEvent } from '../core/kernel/events/log/append.ts';
import { createConsumer, type Consumer } from '../core/kernel/events/consumers/consumer.ts';
import { createFreshEvents } from '../core/kernel/events/consumers/fresh.ts';
import { createPositions } from '../core/kernel/events/consumers/positions.ts';
import { createUnitQueue, type Unit, type UnitQueue } from '../core/kernel/events/work/queue.ts';
import type { Clock } from '../core/platform/lib/time/clock.ts';

export const cleanUp: (() => unknown)[] = [];
/** Ends the processes of a test, for `afterEach`. */
export async function endProcesses(): Promise<void> {
  // The list is emptied first, so a failing clean-up is not run again after the next test.
  for (const clean of cleanUp.splice(0).toReversed()) await clean();
}

// Work rows of these tests are stored in `cursors`, with ids that no consumer uses.
const insert = tenantStatement(
  'test.insert_work',
  "INSERT INTO cursors (workspace_id, consumer, sequence) SELECT :ws, 'work ' || value, 0 FROM json_each(:ids)",
);
export const find = tenantStatement<{ id: string }>(
  'test.find_work',
  `SELECT substr(consumer, 6) AS id FROM cursors WHERE workspace_id = :ws
     AND consumer IN (SELECT 'work ' || value FROM json_each(:ids))`,
);
export const leased = systemStatement<{ id: string }>(
  'test.leased',
  'work items that wait for a worker, in all workspaces',
  'SELECT id FROM due_work ORDER BY id',
);

export const first = scopeOf('00000000-0000-7000-8000-000000000000');
export const workspaceOf = (index: number): Scope =>
  scopeOf(`00000000-0000-7000-8000-${String(index).padStart(12, '0')}`);

/** A process on the database, with the work it performs and the completions that are refused. */
export interface Process {
  readonly consumer: Consumer;
  storeMarks(): Promise<void>;
  readonly queue: UnitQueue<Unit>;
  /** Ids of the performed units, in start order. */
  readonly performed: string[];
  /** Ids of units whose completion was refused. */
  readonly refused: readonly string[];
  /** Appends events, each of which is work for every subscriber. */
  happen(ids: readonly string[], scope?: Scope): Promise<void>;
  cursor(): Promise<number>;
}

interface Setting {
  readonly subjects?: readonly string[];
  readonly capacity?: number;
  /** Default: the monotonic clock of the system. */
  readonly clock?: Clock;
  /** True if all units of a subscriber share one order key. */
  readonly isOrdered?: boolean;
  /** True if the process crashes before any of its timers fires. */
  readonly isCut?: boolean;
  /** Last event that is matched against earlier subscriptions. */
  readonly pastUntil?: number;
  /** True if some work never ends, so that stopping the queue would block. */
  readonly hangs?: boolean;
  /** Resolves when a unit may end; never resolves for a unit that hangs. */
  mayEnd?(id: string): Promise<void>;
  /** Called while the completion of a unit is being committed. */
  atEnd?(): Promise<void>;
}

export function openBase(): OpenedStore {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-consumer-'));
  const opened = openStore(dir, () => 0);
  cleanUp.push(() => rmSync(dir, { recursive: true }), opened.close);
  return opened;
}

const readCursor = tenantStatement<{ sequence: number }>(
  'test.cursor',
  "SELECT sequence FROM cursors WHERE workspace_id = :ws AND consumer = 'test'",
);

export function startProcess({ store }: OpenedStore, owner: string, setting: Setting = {}): Process {
  const {
    subjects = ['plg_1'],
    capacity = 4_000,
    isOrdered = false,
    mayEnd = () => Promise.resolve(),
  } = setting;
  const fresh = createFreshEvents();
  const performed: string[] = [];
  const refused: string[] = [];
  const clock = setting.clock ?? {
    nowMs: () => 0,
    monotonicMs: () => performance.now(),
    after: (delayMs: number, run: () => void) => {
      const timer = setting.isCut ? undefined : setTimeout(run, delayMs);
      return () => clearTimeout(timer);
    },
  };
  const log = (): undefined => undefined;
  const insertOp = (scope: Scope, units: readonly Unit[]) =>
    tenantOp(scope, insert, { ids: JSON.stringify(units.map(({ id }) => id)) });
  const stored = async (scope: Scope, ids: readonly string[]): Promise<Set<string>> =>
    new Set((await store.read(scope, find, { ids: JSON.stringify(ids) })).map(({ id }) => id));
  const queue: UnitQueue<Unit> = createUnitQueue<Unit>({
    store,
    clock,
    log,
    kind: 'test',
    owner,
    seen: new Map(),
    capacity,
    async perform(item) {
      performed.push(item.id);
      await mayEnd(item.id);
      await store.commit([queue.finish(item)]);
    },
    rows: {
      isBlocked: () => Promise.resolve(false),
      isStored: async ({ scope, id }) => (await stored(scope, [id])).has(id),
      insertOp,
      addInOrderOp: ({ scope, subject, id }, leases) =>
        queue.addAll(scope, [{ id, subject }], clock.nowMs(), leases),
      stored: () => undefined,
    },
  });
  const unitOf = ({ workspaceId }: Scope, event: { id: string; sequence: number }, subject: string): Unit => {
    const scope = scopeOf(workspaceId, subject);
    const id = `${event.id} of ${subject}`;
    const unit: Unit = {
      scope,
      subject,
      id,
      sequence: event.sequence,
      orderKey: isOrdered ? subject : null,
      async perform(item) {
        performed.push(id);
        await mayEnd(id);
        const ended = await queue.whileSealed(item, async () => {
          const op = item.epoch === null ? queue.ending(item, insertOp(scope, [unit])) : queue.finish(item);
          await setting.atEnd?.();
          return store.commit([op]);
        });
        if (!ended.ok) refused.push(id);
      },
    };
    return unit;
  };
  const positions = createPositions({ store, clock, log });
  const consumer = createConsumer<Unit>({
    store,
    clock,
    log,
    fresh,
    queue,
    name: 'test',
    isStored: async (scope, id) => (await stored(scope, [id])).has(id),
    positions,
    listens: () => Promise.resolve({ isAny: true, pastUntil: setting.pastUntil ?? 0 }),
    async plan(scope, events, isMeant, isNew) {
      const units: Unit[] = [];
      for (const event of events)
        for (const subject of subjects.filter((one) => isMeant(one, event.sequence))) {
          const unit = unitOf(scope, event, subject);
          if (await isNew(unit.id)) units.push(unit);
        }
      return { units, notes: [] };
    },
  });
  if (!setting.hangs) cleanUp.push(queue.stop);
  cleanUp.push(consumer.stop);
  return {
    consumer,
    storeMarks: positions.stop,
    queue,
    performed,
    refused,
    async happen(ids, scope = first) {
      const events = ids.map((id) => eventWithId(scope, id));
      const appending = appendEvents(scope, events, new Map());
      const outcome = await store.commit(appending.map(({ op }) => op));
      if (!outcome.ok) throw new Error(outcome.message);
      fresh.add(
        scope.workspaceId,
        appending.map((event, index) => event.appended(outcome.rows[index]!)),
      );
    },
    cursor: async () => (await store.readOne(first, readCursor))?.sequence ?? 0,
  };
}

const eventWithId = ({ workspaceId }: Scope, id: string): NewEvent => ({
  id,
  type: 'label.created',
  workspaceId,
  createdAt: 0,
  entityType: 'label',
  entityId: 'lbl_1',
  subjectId: null,
  commitAssignedOf: null,
  actor: { kind: 'system', id: 'test', name: 'Test' },
  cause: { rootEventId: id, parentRunId: null, depth: 0, path: [] },
  requestId: null,
  traceparent: null,
  data: {},
});

export const names = (count: number, prefix = 'evt_'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(4, '0')}`);
export const worksOf = (events: readonly string[], subject = 'plg_1'): string[] =>
  events.map((id) => `${id} of ${subject}`);
export const until = async (isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  const sinceMs = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - sinceMs > 50_000)
      throw new Error('The expected condition was not reached within 50 s.');
    await new Promise((resolve) => setImmediate(resolve));
  }
};

export async function settle({ consumer, queue, storeMarks }: Process): Promise<void> {
  await consumer.settled();
  await queue.settled();
  await storeMarks();
}
