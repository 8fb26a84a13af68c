// Commits a change set: guarded entity writes and their events in one batch. A lost race is the caller's to re-plan.
import type { Directory } from '../context.ts';
import type { Actor, Cause } from '../events/origin.ts';
import { appendEvent } from '../events/append.ts';
import type { Ids } from '../lib/ids.ts';
import type { Row } from '../store/statement.ts';
import type { CommitOptions, CommitOutcome, Op, Scope, Store } from '../store/store.ts';
import type { Change } from './change.ts';

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
  const name = `${part[0]!.toUpperCase()}${part.slice(1)}`;
  return {
    scope,
    actor: { kind: 'system', id: part, name },
    cause: null,
    requestId: null,
    traceparent: null,
    directory,
  };
}

export type Committed =
  | {
      readonly ok: true;
      readonly numbers: ReadonlyMap<string, number>;
      /** What the ops given last returned. */
      readonly lastRows: readonly (readonly Row[])[];
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
  onCommit(listener: CommitListener): void;
}

export function createCommitter(options: {
  store: Store;
  ids: Ids;
  nowMs: () => number;
  baseUrl: string;
  /** The directory as it will be once the changes are committed. */
  directoryAfter: (directory: Directory, changes: readonly Change[]) => Directory;
}): Committer {
  const listeners: CommitListener[] = [];
  return {
    onCommit: (listener) => void listeners.push(listener),
    async commit(author, changes, guards = [], last = [], settings = {}) {
      const { scope } = author;
      const createdAt = options.nowMs();
      const view = { directory: options.directoryAfter(author.directory, changes), baseUrl: options.baseUrl };
      const entityOps = changes.flatMap((change) => change.ops(scope));
      const rows = changes
        .flatMap((change) => change.events(view))
        .map((draft) => {
          const id = draft.id ?? options.ids.next('event');
          const cause = author.cause ?? { rootEventId: id, parentRunId: null, depth: 0, path: [] };
          return {
            id,
            type: draft.type,
            workspaceId: scope.workspaceId,
            createdAt,
            entityKind: draft.entityKind,
            entityId: draft.entityId,
            issueId: draft.issueId,
            actor: author.actor,
            cause: cause.rootEventId === null ? { ...cause, rootEventId: id } : cause,
            requestId: author.requestId,
            traceparent: author.traceparent,
            data: draft.data,
            numberOf: draft.numberOf,
          };
        });
      const lastOps = typeof last === 'function' ? last(rows) : last;
      const ops = [...guards, ...entityOps, ...rows.map((row) => appendEvent(scope, row)), ...lastOps];
      const outcome = await options.store.commit(ops, settings);
      if (!outcome.ok) {
        const part =
          outcome.op < guards.length ? 'guard' : outcome.op < ops.length - lastOps.length ? 'change' : 'last';
        return { ...outcome, part };
      }
      const numbers = new Map<string, number>();
      const firstEvent = guards.length + entityOps.length;
      for (const [index, { numberOf }] of rows.entries()) {
        const number = outcome.rows[firstEvent + index]![0]!.number ?? null;
        if (numberOf !== null && number !== null) numbers.set(numberOf, Number(number));
      }
      for (const listener of listeners) listener(scope.workspaceId, changes);
      return { ok: true, numbers, lastRows: outcome.rows.slice(ops.length - lastOps.length) };
    },
  };
}
