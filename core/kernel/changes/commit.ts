// Commits a change set: guarded writes of entities and their events in one batch. After a lost race the caller
// must plan again.
import type { Directory } from '../context.ts';
import type { Actor, Cause } from '../events/event.ts';
import {
  appendEvents,
  completeBody,
  hidePending,
  type CommitAssigned,
  type NewEvent,
} from '../events/log/append.ts';
import type { FreshEvents } from '../events/consumers/fresh.ts';
import type { Ids } from '../../platform/lib/ids.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import { capital } from '../../platform/lib/text/words.ts';
import type { CommitOptions, CommitOutcome, Op, Scope, Store } from '../../platform/store/store.ts';
import { withoutCommit, type Change, type CommitView, type Entity } from './change.ts';
import type { EntityCache, PlannedEntity } from './entity-cache.ts';
import { orderOps } from './find.ts';

/** Called for every committed batch before `commit` returns, so that callers find updated caches. */
interface CommitListener {
  (workspaceId: string, changes: readonly Change[]): void;
}

/** Author and workspace of a commit, with the directory that its events use. */
export interface Author {
  readonly scope: Scope;
  readonly actor: Actor;
  readonly cause: Cause | null;
  readonly requestId: string | null;
  readonly traceparent: string | null;
  readonly directory: Directory;
}

/** Returns the author of writes by the service itself. @param part component, such as `webhooks` */
export function systemAuthor(scope: Scope, part: string, directory: Directory): Author {
  return {
    scope,
    actor: { kind: 'system', id: part, name: capital(part) },
    cause: null,
    requestId: null,
    traceparent: null,
    directory,
  };
}

export type Committed =
  | {
      readonly ok: true;
      /** Returns the body of a response with the values that the commit assigned; the same body if none. */
      completed(body: unknown): unknown;
    }
  | (Exclude<CommitOutcome, { ok: true }> & {
      /** Position of the failed op: among the guards, the changes, or the last ops. */
      readonly part: 'guard' | 'change' | 'last';
    });

/** Ops after the changes, or a function that returns ops which record the events of the commit. */
type LastOps =
  readonly Op[] | ((events: readonly { readonly id: string; readonly type: string }[]) => readonly Op[]);

export interface Committer {
  /**
   * @param guards ops that precede the changes and may reject the batch (idempotency key, lease fence)
   * @param last ops that follow the changes and their events (run record, cursor)
   * @throws StoreError
   */
  commit(
    author: Author,
    changes: readonly Change[],
    guards?: readonly Op[],
    last?: LastOps,
    options?: CommitOptions,
  ): Promise<Committed>;
  /** Returns the data of the first event of each change that emits one, as if the changes were committed. */
  preview(
    directory: Directory,
    changes: readonly Change[],
  ): ReadonlyMap<Change, Readonly<Record<string, unknown>>>;
  /** Returns the body of a response without the values that only a commit assigns. */
  uncommitted(body: unknown): unknown;
  onCommit(listener: CommitListener): void;
}

export function createCommitter(options: {
  store: Store;
  /** Absent outside of a server. */
  entities?: EntityCache;
  ids: Ids;
  nowMs: () => number;
  baseUrl: string;
  /** Receives the appended events. */
  fresh: FreshEvents;
  directoryAfter: (directory: Directory, changes: readonly Change[]) => Directory;
}): Committer {
  const { ids, baseUrl } = options;
  const listeners: CommitListener[] = [];
  return {
    onCommit: (listener) => void listeners.push(listener),
    uncommitted: hidePending,
    preview(directory, changes) {
      const view = withoutCommit({ directory: options.directoryAfter(directory, changes), baseUrl });
      return new Map(changes.map((change) => [change, change.events(view)[0]?.data ?? {}]));
    },
    async commit(author, changes, guards = [], last = [], settings = {}) {
      const { scope } = author;
      const createdAt = options.nowMs();
      const directory = options.directoryAfter(author.directory, changes);
      const view = { directory, baseUrl, after: leftBy(changes) };
      const written = changes.map((change) => ({ change, ops: change.ops(scope, view) }));
      const entityOps = [...orderOps(scope, changes), ...written.flatMap(({ ops }) => ops)];
      const events = eventsOf(changes, view, author, { ids, createdAt });
      // The store hands out rows one microtask after its commit resolves, which is before the caller of this
      // function continues. A wrapper of `store.commit` that adds an await must hand out the rows before its
      // promise resolves.
      const commitAssigned = new Map<string, CommitAssigned>();
      const appending = appendEvents(scope, events, commitAssigned);
      const lastOps = typeof last === 'function' ? last(events) : last;
      const ops = [...guards, ...entityOps, ...appending.map(({ op }) => op), ...lastOps];
      const first = guards.length + entityOps.length;
      options.entities?.expect(ops, scope, entitiesLeft(written, events, first));
      const outcome = await options.store.commit(ops, settings);
      if (!outcome.ok) return { ...outcome, part: partOf(ops[outcome.op]!, guards, lastOps) };
      const appended = appending.map((event, index) => event.appended(outcome.rows[first + index]!));
      try {
        for (const listener of listeners) listener(scope.workspaceId, changes);
      } finally {
        // Even if a listener throws, the events are in the log, and nothing else publishes them.
        options.fresh.add(scope.workspaceId, appended);
      }
      return {
        ok: true,
        completed: (body) => (commitAssigned.size === 0 ? body : completeBody(body, commitAssigned)),
      };
    },
  };
}

/** @param first index of the op that appends the first event */
function entitiesLeft(
  written: readonly { readonly change: Change; readonly ops: readonly Op[] }[],
  events: readonly NewEvent[],
  first: number,
): PlannedEntity[] {
  return written.flatMap(({ change: { source, before, after }, ops }) => {
    if (!source) return [];
    const waits = source.assigned && after[source.assigned as keyof Entity] === null;
    const at = waits ? events.findIndex(({ commitAssignedOf }) => commitAssignedOf === after.id) : -1;
    return [{ source, before, after, ops, assignedBy: at < 0 ? null : first + at }];
  });
}

/** Builds the map on first use, because few commits include one object in the event of another. */
function leftBy(changes: readonly Change[]): CommitView['after'] {
  let left: Map<string, Entity> | undefined;
  return (kind, id) => {
    left ??= new Map(changes.map((change) => [`${change.kind} ${change.id}`, change.after]));
    return left.get(`${kind} ${id}`);
  };
}

function eventsOf(
  changes: readonly Change[],
  view: CommitView,
  { scope, actor, cause, requestId, traceparent }: Author,
  { ids, createdAt }: { ids: Ids; createdAt: number },
): NewEvent[] {
  return changes
    .flatMap((change) =>
      change.events(view).map((draft) => ({ draft, why: change.cause ?? cause, by: change.actor ?? actor })),
    )
    .map(({ draft, why, by }) => {
      const id = draft.id ?? ids.next(idPrefixes.event);
      return {
        id,
        type: draft.type,
        workspaceId: scope.workspaceId,
        createdAt,
        entityType: draft.entityType,
        entityId: draft.entityId,
        subjectId: draft.subjectId,
        commitAssignedOf: draft.commitAssignedOf,
        actor: by,
        cause: rootedIn(why, id),
        requestId,
        traceparent,
        data: draft.data,
      };
    });
}

/** An event without an earlier cause is its own root. */
function rootedIn(cause: Cause | null, eventId: string): Cause {
  if (!cause) return { rootEventId: eventId, parentRunId: null, depth: 0, path: [] };
  return cause.rootEventId === null ? { ...cause, rootEventId: eventId } : cause;
}

function partOf(failed: Op, guards: readonly Op[], lastOps: readonly Op[]): 'guard' | 'change' | 'last' {
  if (guards.includes(failed)) return 'guard';
  return lastOps.includes(failed) ? 'last' : 'change';
}
