// A consumer turns the event log into work rows: it reads on from its cursor, plans the rows, and commits them together
// with the moved cursor, so that a crash neither loses nor repeats an event. It does not know what an issue is.
import type { Log } from '../lib/log.ts';
import { systemStatement, tenantStatement, type Row } from '../store/statement.ts';
import { backgroundPatienceMs, scopeOf, tenantOp, type Op, type Scope, type Store } from '../store/store.ts';
import type { EventRow } from './event.ts';
import { lastSequence, pageAfter } from './log.ts';
import { errorForLog } from '../lib/failures.ts';

const pageEvents = 200;
/** Without matches the cursor is only moved in the database this often (events): re-reading what matched nothing is harmless. */
const idleCursorEvents = 2_000;

const readCursor = tenantStatement<{ sequence: number }>(
  'cursors.read',
  'SELECT sequence FROM cursors WHERE workspace_id = :ws AND consumer = :consumer',
);
const moveCursor = tenantStatement(
  'cursors.move',
  `INSERT INTO cursors (workspace_id, consumer, sequence) VALUES (:ws, :consumer, :to)
   ON CONFLICT (workspace_id, consumer) DO UPDATE SET sequence = :to WHERE sequence = :from`,
);
const allWorkspaces = systemStatement<{ workspace_id: string }>(
  'consumers.workspaces',
  'at start every workspace may have events that its consumers have not seen',
  'SELECT workspace_id FROM workspaces',
);

export interface Plan {
  readonly ops: readonly Op[];
  /** Up to which event it goes where that is not the last: the others are asked for again. */
  readonly through?: number;
  /** Called once the ops are durable, with the rows each returned. */
  committed?(rows: readonly (readonly Row[])[]): void;
}

export interface Consumer {
  /** Reads on in every workspace; to be called once at start. */
  start(): Promise<void>;
  /** Resolves once all events committed so far are planned. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export function createConsumer(options: {
  store: Store;
  name: string;
  log: Log;
  /** Whether anybody in the workspace listens to any event now; if not, events are passed over unread. */
  listens(scope: Scope): Promise<boolean>;
  /** The work that a page of events, in order, makes. */
  plan(scope: Scope, events: readonly EventRow[]): Promise<Plan>;
}): Consumer {
  const { store, name, log } = options;
  const positions = new Map<string, { at: number; stored: number }>();
  const running = new Map<string, Promise<void>>();
  const woken = new Set<string>();
  let stopped = false;

  const position = async (scope: Scope): Promise<{ at: number; stored: number }> => {
    const known = positions.get(scope.workspaceId);
    if (known) return known;
    const stored = (await store.readOne(scope, readCursor, { consumer: name }))?.sequence ?? 0;
    const fresh = { at: stored, stored };
    positions.set(scope.workspaceId, fresh);
    return fresh;
  };

  /** One page; false when there was nothing to read. */
  const step = async (scope: Scope): Promise<boolean> => {
    const from = await position(scope);
    // First the end of the log, then whether anybody listens: who begins to listen in between misses nothing.
    const end = await lastSequence(store, scope);
    if (end === from.at) return false;
    if (end - from.stored < idleCursorEvents && !(await options.listens(scope))) {
      from.at = end;
      return true;
    }
    const { events } = await pageAfter(store, scope, from.at, { limit: pageEvents });
    if (events.length === 0) return false;
    for (let rest = events, goesOn = true; goesOn && rest.length > 0 && !stopped;) {
      const plan = await options.plan(scope, rest);
      const to = plan.through ?? rest.at(-1)!.sequence;
      goesOn = await take(scope, plan, to);
      rest = rest.filter(({ sequence }) => sequence > to);
    }
    return true;
  };

  /** Stores a plan and moves on; false where another process has moved on already. */
  const take = async (scope: Scope, plan: Plan, to: number): Promise<boolean> => {
    const from = await position(scope);
    if (plan.ops.length === 0 && to - from.stored < idleCursorEvents) {
      from.at = to;
      return true;
    }
    const move = tenantOp(scope, moveCursor, { consumer: name, from: from.stored, to }, { expectRows: 1 });
    const outcome = await store.commit([move, ...plan.ops], { patienceMs: backgroundPatienceMs });
    if (!outcome.ok) {
      if (outcome.op > 0) throw new Error(`${name} planned work that cannot be stored: ${outcome.message}`);
      // Another process has moved the cursor: read on from where it stands now.
      positions.delete(scope.workspaceId);
      return false;
    }
    positions.set(scope.workspaceId, { at: to, stored: to });
    plan.committed?.(outcome.rows.slice(1));
    return true;
  };

  const run = async (workspaceId: string): Promise<void> => {
    const scope = scopeOf(workspaceId);
    for (let failures = 0; !stopped;) {
      woken.delete(workspaceId);
      try {
        while (!stopped && (await step(scope)));
        failures = 0;
        if (!woken.has(workspaceId)) return;
      } catch (error) {
        if (stopped) return;
        failures++;
        log('error', 'consumer failed', { consumer: name, workspaceId, failures, error: errorForLog(error) });
        positions.delete(workspaceId);
        await new Promise((resolve) => setTimeout(resolve, Math.min(5_000, 20 * 2 ** failures)));
      }
    }
  };

  const wake = (workspaceId: string): void => {
    woken.add(workspaceId);
    if (stopped || running.has(workspaceId)) return;
    running.set(
      workspaceId,
      run(workspaceId).finally(() => {
        running.delete(workspaceId);
        if (woken.has(workspaceId)) wake(workspaceId);
      }),
    );
  };

  store.onEvents((workspaceIds) => workspaceIds.forEach(wake));
  return {
    async start() {
      for (const row of await store.readSystem(allWorkspaces)) wake(row.workspace_id);
    },
    async settled() {
      while (running.size > 0) await Promise.all(running.values());
    },
    async stop() {
      stopped = true;
      await Promise.all(running.values());
    },
  };
}
