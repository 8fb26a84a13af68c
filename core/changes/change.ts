// A change set is what an operation returns instead of writing: the entity changes, and the answer they will have.
// The caller's mode decides what becomes of it (commit, simulate, stage). docs/spec/README.md › Five ideas.
import type { View } from '../context.ts';
import type { Op, Scope } from '../store/store.ts';
import type { EventType } from '../events/catalogue.ts';
import type { Actor, Cause } from '../events/origin.ts';

/** A view of what a commit changes. */
export interface CommitView extends View {
  /** The object as the commit leaves it; undefined where the commit does not change it. */
  after(kind: string, id: string): Entity | undefined;
}

/** For changes that are shown and not committed, each by itself. */
export const withoutCommit = ({ directory, baseUrl }: View): CommitView => ({
  directory,
  baseUrl,
  after: () => undefined,
});

/**
 * An object that the event of another one tells. The commit may change it too, in an earlier or a later change, and the last event of an
 * object says how its row is.
 */
export const asLeft = <E extends Entity>(view: CommitView, kind: string, entity: E): E =>
  (view.after(kind, entity.id) as E | undefined) ?? entity;

/** Every stored object of the domain. */
export interface Entity {
  readonly id: string;
  /** 1 at creation, +1 with every change. */
  readonly version: number;
}

/** An order whose objects are placed by their neighbors, and its version: 0 until something is placed in it. */
export interface OrderVersion {
  /** The id of the object whose cards, sub-issues or positions are in that order. */
  readonly id: string;
  readonly version: number;
}

/** One entity's change. The kind that made it knows its shape; everybody else sees only this. */
export interface Change {
  readonly kind: string;
  readonly id: string;
  readonly before: Entity | null;
  readonly after: Entity;
  /** Guard: the version this change was planned on; null for a creation. */
  readonly baseVersion: number | null;
  /** Guard: the order that this change places the object in, at the version that its place was computed from. */
  readonly order?: OrderVersion;
  /** Of the machinery's own rows: it derives no event. */
  readonly isSilent: boolean;
  /** The object whose changes conflict with each other, where that is another one: the board of a limit. */
  readonly contends?: string;
  /** Why it was made, where a batch answers several events; absent: the cause of the batch. */
  readonly cause?: Cause;
  /** Who did it, where that is not whoever commits: an approval commits what another asked for. */
  readonly actor?: Actor;
  ops(scope: Scope): Op[];
  events(view: CommitView): EventDraft[];
  /** Whether the object is of one of these teams, before and after. Absent where it is of none. */
  isOfTeams?(ids: ReadonlySet<string>): boolean;
  /** This change followed by a later one of the same entity: the first `before`, the last `after`. */
  followedBy(later: Change): Change;
}

/** An event as its kind derives it; the commit adds id, time, sequence, actor and cause. */
export interface EventDraft {
  /** Where rows of the same batch must name the event; else the commit makes one. */
  readonly id?: string;
  readonly type: EventType;
  readonly entityKind: string;
  readonly entityId: string;
  /** The object whose history this belongs to. */
  readonly subjectId: string | null;
  /** The object of which the commit will learn what completes `data`. */
  readonly learnsOf: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface ChangeSet<T = unknown> {
  readonly changes: readonly Change[];
  /** Rows of the machinery (runs, deliveries, plugin code) that belong to the same batch; they make no events. */
  readonly ops?: readonly Op[];
  /** What has to be there before the rows are, and must not happen in a simulation: called before each try to commit. */
  beforeCommit?(): Promise<void>;
  /** What must not happen in a simulation, and no op says: called once all is durable. */
  afterCommit?(): void;
  /**
   * A better answer, for which one has to wait once all is durable: outside of every turn, and not kept for an idempotency key. Null
   * leaves the answer as it is.
   */
  completed?(): Promise<Pick<ChangeSet<T>, 'body' | 'status'> | null>;
  /** The answer, still without what the commit learns. Undefined answers 204. */
  readonly body: T;
  /** The answer of a simulation, where it says something else: there is nothing that an id of it would name. */
  readonly simulated?: T;
  readonly status?: 200 | 201 | 202 | 204;
  readonly location?: string;
}

/** The old public values of what changed, for `data.previous`. */
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

/** Of two values as JSON holds them. */
export function sameValue(a: unknown, b: unknown): boolean {
  return (
    a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b))
  );
}
