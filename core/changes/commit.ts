// Commits a change set: guarded entity writes and their events in one batch. A lost race is the caller's to re-plan.
import type { Directory } from '../context.ts';
import type { Actor, Cause } from '../events/origin.ts';
import { appendEvents, type NewEvent } from '../events/append.ts';
import type { FreshEvents } from '../events/fresh.ts';
import type { Learned } from '../events/learning.ts';
import type { Ids } from '../lib/ids.ts';
import { idPrefixes } from '../lib/ids.ts';
import { capital } from '../lib/words.ts';
import type { CommitOptions, CommitOutcome, Op, Scope, Store } from '../store/store.ts';
import { withoutCommit, type Change, type CommitView, type Entity } from './change.ts';
import { orderOps } from './order.ts';

/** Told of every committed batch of changes, before its caller is: caches listen. */
interface CommitListener {
  (workspaceId: string, changes: readonly Change[]): void;
}

/** Who commits, in which workspace, and how what they changed is shown. */
export interface Author {
  readonly scope: Scope;
  readonly actor: Actor;
  readonly cause: Cause | null;
  readonly requestId: string | null;
  readonly traceparent: string | null;
  readonly directory: Directory;
}

/** The author of what the service does by itself. @param part of it, such as `webhooks` */
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
      /** What the commit learned, by the id of the object that it learned it of. */
      readonly learned: ReadonlyMap<string, Learned>;
    }
  | (Exclude<CommitOutcome, { ok: true }> & {
      /** Where the failing op stood: among the guards given first, the changes, or the ops given last. */
      readonly part: 'guard' | 'change' | 'last';
    });

/** Ops that follow the changes; where they record the events themselves, a function of these. */
type LastOps =
  readonly Op[] | ((events: readonly { readonly id: string; readonly type: string }[]) => readonly Op[]);

export interface Committer {
  /**
   * @param guards ops that go first and may refuse the batch (idempotency key, lease fence)
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
  /** What the first event of each change that makes one would show, were they committed. */
  preview(
    directory: Directory,
    changes: readonly Change[],
  ): ReadonlyMap<Change, Readonly<Record<string, unknown>>>;
  onCommit(listener: CommitListener): void;
}

export function createCommitter(options: {
  store: Store;
  ids: Ids;
  nowMs: () => number;
  baseUrl: string;
  /** Is handed what was appended. */
  fresh: FreshEvents;
  /** The directory as it will be once the changes are committed. */
  directoryAfter: (directory: Directory, changes: readonly Change[]) => Directory;
}): Committer {
  const { ids, baseUrl } = options;
  const listeners: CommitListener[] = [];
  return {
    onCommit: (listener) => void listeners.push(listener),
    preview(directory, changes) {
      const view = withoutCommit({ directory: options.directoryAfter(directory, changes), baseUrl });
      return new Map(changes.map((change) => [change, change.events(view)[0]?.data ?? {}]));
    },
    async commit(author, changes, guards = [], last = [], settings = {}) {
      const { scope } = author;
      const createdAt = options.nowMs();
      const directory = options.directoryAfter(author.directory, changes);
      const view = { directory, baseUrl, after: leftBy(changes) };
      const entityOps = [...orderOps(scope, changes), ...changes.flatMap((change) => change.ops(scope))];
      const events = eventsOf(changes, view, author, { ids, createdAt });
      // The store hands rows out in the microtask after the one that ends our wait for it, so before our caller goes on. Whoever
      // puts another wait around the store's commit has to hand them out before it ends.
      const learned = new Map<string, Learned>();
      const appending = appendEvents(scope, events, learned);
      const lastOps = typeof last === 'function' ? last(events) : last;
      const ops = [...guards, ...entityOps, ...appending.map(({ op }) => op), ...lastOps];
      const outcome = await options.store.commit(ops, settings);
      if (!outcome.ok) return { ...outcome, part: partOf(ops[outcome.op]!, guards, lastOps) };
      const first = guards.length + entityOps.length;
      const appended = appending.map((event, index) => event.appended(outcome.rows[first + index]!));
      try {
        for (const listener of listeners) listener(scope.workspaceId, changes);
      } finally {
        // Whatever a listener does wrong, the events are in the log, and nobody else tells of them.
        options.fresh.add(scope.workspaceId, appended);
      }
      return { ok: true, learned };
    },
  };
}

/** Made when it is first asked: few commits tell one object as part of another. */
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
        entityKind: draft.entityKind,
        entityId: draft.entityId,
        subjectId: draft.subjectId,
        learnsOf: draft.learnsOf,
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
