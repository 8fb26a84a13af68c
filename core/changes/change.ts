// An operation returns a change set instead of writing: the changes of entities, and the response. The caller's mode decides whether it is
// committed, simulated or staged. docs/spec/README.md › Principles.
import type { View } from '../context.ts';
import type { Op, Scope } from '../store/store.ts';
import type { EventType } from '../events/catalogue.ts';
import type { Actor, Cause } from '../events/origin.ts';

/** View of the objects that a commit changes. */
export interface CommitView extends View {
  /** Returns the object after the commit; undefined if the commit does not change it. */
  after(kind: string, id: string): Entity | undefined;
}

/** View of changes that are shown one by one and not committed. */
export const withoutCommit = ({ directory, baseUrl }: View): CommitView => ({
  directory,
  baseUrl,
  after: () => undefined,
});

/**
 * Returns the state after the commit of an object that is part of another object's event. The commit may change it in an earlier or a
 * later change, and the last event of an object must match its row.
 */
export const asLeft = <E extends Entity>(view: CommitView, kind: string, entity: E): E =>
  (view.after(kind, entity.id) as E | undefined) ?? entity;

/** Stored object of the domain. */
export interface Entity {
  readonly id: string;
  /** 1 at creation, incremented by every change. */
  readonly version: number;
}

/** Version of an order in which objects are placed by their neighbors; 0 until something is placed in it. */
export interface OrderVersion {
  /** Id of the object whose cards, sub-issues or positions are ordered. */
  readonly id: string;
  readonly version: number;
}

/** Change of one entity. Only its model knows its type; all other code uses this interface. */
export interface Change {
  readonly kind: string;
  readonly id: string;
  readonly before: Entity | null;
  readonly after: Entity;
  /** Guard: version that the change was planned on; null for a creation. */
  readonly baseVersion: number | null;
  /** Guard: order in which the change places the object, at the version that its place was computed from. */
  readonly order?: OrderVersion;
  /** True for internal rows, which emit no event. */
  readonly isSilent: boolean;
  /** Object for which changes contend, if not the changed one: the board of a limit. */
  readonly contends?: string;
  /** Cause of the change, if a batch responds to several events; default: the cause of the batch. */
  readonly cause?: Cause;
  /** Author of the change, if not the committer: an approval commits a request of somebody else. */
  readonly actor?: Actor;
  ops(scope: Scope): Op[];
  events(view: CommitView): EventDraft[];
  /** True if the object belongs to one of these teams before and after the change. Absent for objects without a team. */
  isOfTeams?(ids: ReadonlySet<string>): boolean;
  /** Merges this change with a later one of the same entity: the first `before`, the last `after`. */
  followedBy(later: Change): Change;
}

/** Event as derived by its model; the commit adds id, time, sequence, actor and cause. */
export interface EventDraft {
  /** Set if rows of the same batch refer to the event; otherwise the commit generates it. */
  readonly id?: string;
  readonly type: EventType;
  readonly entityKind: string;
  readonly entityId: string;
  /** Object whose history the event belongs to. */
  readonly subjectId: string | null;
  /** Object whose commit-assigned values complete `data`. */
  readonly commitAssignedOf: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ChangeSet<T = unknown> {
  readonly changes: readonly Change[];
  /** Internal rows (runs, deliveries, plugin code) of the same batch, which emit no events. */
  readonly ops?: readonly Op[];
  /** Creates what the rows depend on, except in a simulation: called before each attempt to commit. */
  beforeCommit?(): Promise<void>;
  /** Effects that no op expresses, except in a simulation: called once the commit is durable. */
  afterCommit?(): void;
  /**
   * Waits for a better response once the commit is durable: outside of every queue, and not stored for an idempotency key. Null leaves the
   * response unchanged.
   */
  completed?(): Promise<Pick<ChangeSet<T>, 'body' | 'status'> | null>;
  /** Response body, without commit-assigned values. Undefined responds with 204. */
  readonly body: T;
  /** Response body of a simulation, if it differs: an id in it would refer to nothing. */
  readonly simulated?: T;
  readonly status?: 200 | 201 | 202 | 204;
  readonly location?: string;
}

/** Returns the previous public values of the changed fields, for `data.previous`. */
export function previousValues(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const previous: Record<string, unknown> = {};
  for (const key of Object.keys(after)) {
    if (key === 'version' || key === 'updatedAt') continue;
    if (!sameValue(before[key], after[key])) previous[key] = before[key] ?? null;
  }
  return previous;
}

/** Compares two JSON values. */
export function sameValue(a: unknown, b: unknown): boolean {
  return (
    a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b))
  );
}
