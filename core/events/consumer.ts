// A consumer turns the event log into work rows: it reads on from its cursor, plans the rows, and commits them together
// with the moved cursor, so that a crash neither loses nor repeats an event.
import { errorForLog } from '../lib/failures.ts';
import type { Log } from '../lib/log.ts';
import { systemStatement } from '../store/statement.ts';
import { scopeOf, type Scope, type Store } from '../store/store.ts';
import { Cursors, idleCursorEvents, type Work } from './cursors.ts';
import type { EventRow } from './event.ts';
import { lastSequence, pageAfter } from './log.ts';

const pageEvents = 200;
const allWorkspaces = systemStatement<{ workspace_id: string }>(
  'consumers.workspaces',
  'at start every workspace may have events that its consumers have not seen',
  'SELECT workspace_id FROM workspaces',
);

export interface Plan extends Work {
  /** Up to which event it goes where that is not the last: the others are asked for again. */
  readonly through?: number;
}

export interface Consumer {
  /** Reads on in every workspace; to be called once at start. */
  start(): Promise<void>;
  /** Resolves once all events committed so far are planned. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

interface ConsumerOptions {
  readonly store: Store;
  readonly name: string;
  readonly log: Log;
  /** Whether anybody in the workspace listens to any event now; if not, events are passed over unread. */
  listens(scope: Scope): Promise<boolean>;
  /** The work that a page of events, in order, makes. */
  plan(scope: Scope, events: readonly EventRow[]): Promise<Plan>;
}

export function createConsumer(options: ConsumerOptions): Consumer {
  const { store, name, log } = options;
  const cursors = new Cursors(store, name);
  // Both hold workspaces for as long as their events are being read.
  const running = new Map<string, Promise<void>>();
  const woken = new Set<string>();
  let stopped = false;
  const isStopped = (): boolean => stopped;

  const run = async (workspaceId: string): Promise<void> => {
    const scope = scopeOf(workspaceId);
    for (let failures = 0; !stopped;) {
      woken.delete(workspaceId);
      try {
        while (!stopped && (await readOn(options, cursors, scope, isStopped)));
        failures = 0;
        if (!woken.has(workspaceId)) return;
      } catch (error) {
        if (stopped) return;
        failures++;
        log('error', 'consumer failed', { consumer: name, workspaceId, failures, error: errorForLog(error) });
        cursors.forget(workspaceId);
        await new Promise((resolve) => setTimeout(resolve, Math.min(5_000, 20 * 2 ** failures)));
      }
    }
  };

  const wake = (workspaceId: string): void => {
    if (stopped) return;
    woken.add(workspaceId);
    if (running.has(workspaceId)) return;
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

/** One page; false when there was nothing to read. */
async function readOn(
  { store, listens, plan }: ConsumerOptions,
  cursors: Cursors,
  scope: Scope,
  isStopped: () => boolean,
): Promise<boolean> {
  const from = await cursors.placeOf(scope);
  // First the end of the log, then whether anybody listens: who begins to listen in between misses nothing.
  const end = await lastSequence(store, scope);
  if (end === from.at) return false;
  if (end - from.stored < idleCursorEvents && !(await listens(scope))) {
    cursors.passOver(scope, from, end);
    return true;
  }
  const { events } = await pageAfter(store, scope, from.at, { limit: pageEvents });
  if (events.length === 0) return false;
  for (let rest = events, goesOn = true; goesOn && rest.length > 0 && !isStopped();) {
    const planned = await plan(scope, rest);
    const to = planned.through ?? rest.at(-1)!.sequence;
    goesOn = await take(cursors, scope, planned, to);
    rest = rest.filter(({ sequence }) => sequence > to);
  }
  return true;
}

/** Stores a plan and moves on; false where another process has moved on already. */
async function take(cursors: Cursors, scope: Scope, plan: Plan, to: number): Promise<boolean> {
  const from = await cursors.placeOf(scope);
  if (plan.ops.length === 0 && to - from.stored < idleCursorEvents) {
    cursors.passOver(scope, from, to);
    return true;
  }
  return cursors.moveWith(scope, plan, to);
}
