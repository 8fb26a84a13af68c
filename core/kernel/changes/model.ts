// Changes of entities by their models, which core/kernel/resource/model.ts derives. Only a model creates
// changes, and a change without an event throws here, so no entity is written without an event. Internal rows
// have no model.
import type { Context, View } from '../context.ts';
import type { EventType } from '../events/catalogue.ts';
import type { CommitAssignedRule } from '../events/log/append.ts';
import type { Condition } from '../../platform/store/page.ts';
import { tenantStatement, type SqlRow } from '../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../platform/store/store.ts';
import {
  previousValues,
  sameValue,
  type Change,
  type Entity,
  type EventDraft,
  type NewEntity,
} from './change.ts';
import type { Column, EntityOps, PickedFields } from './operations.ts';
import { areAmong, type Alias, type AsItWas } from './find.ts';
import type { ReadSet } from './reads.ts';
import type { AnySource, Source } from './sources.ts';

type Wire = Readonly<Record<string, unknown>>;

/** Parts of a model that most entities lack. */
export interface ModelOptions<E extends Entity> {
  /** True if the events have no `previous`. */
  readonly withoutPrevious?: true;
  /** Returns the id of the object whose history the events belong to. */
  subjectId?(entity: E): string | null;
  /**
   * `of` returns the team or teams of an object; `isIn` returns the SQL condition that all of them are in a
   * list. An object without a team is visible to everybody; writing it requires write access to every team.
   */
  readonly team?: { of(entity: E): string | readonly string[]; isIn(list: string): string };
  /** Name of an object, in addition to its id. */
  readonly alias?: Alias;
  /**
   * Rule for the commit-assigned value of the events, and the id of its object. The representation lacks the
   * value.
   */
  readonly commitAssigned?: {
    readonly rule: CommitAssignedRule;
    /** Field with the value; null for an entity that only shows it. */
    readonly field: (keyof E & string) | null;
    of(entity: E): string | null;
  };
  /** Values that SQL computes on insert: column → expression over the parameters of the statement. */
  readonly insertExpressions?: Readonly<Record<string, string>>;
  readonly follows?: Follows;
  readonly inputs?: UpdateInputs<E>;
  /** For entities that can be purged: the event, and the ops that first delete the dependent rows. */
  readonly purged?: { readonly event: EventType; rows(scope: Scope, entity: E): Op[] };
  /**
   * Restores a deleted object whose creation and deletion are events of another object.
   * @throws {ApiError} if it cannot be restored
   */
  comesBack?(ctx: Context, deleted: E): Promise<Change>;
  /**
   * Writes in addition to the row itself, such as join rows and counters. `first` precede the row, `last` follow
   * it.
   */
  related?(scope: Scope, before: E | null, after: E): { first?: Op[]; last?: Op[] };
}

export interface ModelSpec<E extends Entity, W extends Wire> extends ModelOptions<E> {
  readonly name: string;
  readonly table: string;
  /** Fields of the entity without id and version, each with its column. */
  readonly fields: { readonly [F in Exclude<keyof E, 'id' | 'version'>]: string | Column };
  toResponse(entity: E, view: View): W;
  /** Returns the representation in events, if events show less than the API. */
  toEventData?(entity: E, view: View): W;
  /** Returns the events of a change, in order: at least one. */
  events(before: E | null, after: E, view: View): readonly EventType[];
  /** Returns the row at a past moment; absent if the log does not have all of it. */
  readonly asItWas?: AsItWas<E>;
}

/** Fields derived from another field. An undo restores them together with it, and never alone. */
interface Follows {
  readonly from: string;
  readonly fields: readonly string[];
}

/** Fields that the body of the update operation has by another name or in another form, by stored name. */
type UpdateInputs<E extends Entity> = Readonly<
  Record<string, { readonly name: string; valueOf(entity: E, ctx: Context): unknown }>
>;

/** Model of any entity: its parts that do not depend on the type of the entity. */
export interface AnyModel {
  readonly name: string;
  readonly table: string;
  /** True if deleted rows stay, with the time in `deleted_at`. */
  readonly retainsDeleted: boolean;
  /** Returns the condition that the team is in a list; undefined for entities without a team. */
  readonly isOfTeamIn: ((list: string) => string) | undefined;
  /** Source of the rows in the entity cache; null if they are not cached. */
  readonly source: AnySource | null;
  pick(names: readonly string[]): PickedFields;
}

export interface EntityModel<E extends Entity, W> extends AnyModel, EntityChanges<E> {
  /** Select list; only computed columns are aliased. */
  readonly select: string;
  fromRow(row: SqlRow): E;
  readonly asItWas: AsItWas<E> | undefined;
  readonly follows: Follows | undefined;
  readonly inputs: UpdateInputs<E> | undefined;
  toResponse(entity: E, view: View): W;
  /** Finds an object by id or alias, staged changes included; undefined if the caller cannot see its team. */
  find(ctx: Context, id: string): Promise<E | undefined>;
  /** Resolves aliases to ids. */
  idsOf(ctx: Context, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Returns the existing objects among the ids, in no particular order. */
  findMany(ctx: Context, ids: readonly string[]): Promise<E[]>;
  /** Records that a list was read, with its rows as stored. */
  noteList(reads: ReadSet, rows: readonly SqlRow[], where: readonly Condition[]): void;
  /**
   * Restores a deleted object; undefined if `update` alone restores it, or if the entity has no restoration.
   * @throws {ApiError} if the object cannot be restored
   */
  readonly comesBack: ((ctx: Context, deleted: E) => Promise<Change>) | undefined;
}

/** Changes and events of the objects of one model. */
interface EntityChanges<E extends Entity> {
  create(entity: NewEntity<E>): Change & { readonly after: E };
  /** Returns null if the patch changes nothing. Sets `updatedAt` if the entity has it. */
  update(before: E, patch: Partial<E>, nowMs: number): (Change & { readonly after: E }) | null;
  /**
   * Removes a deleted row permanently; its event shows the last state.
   * @throws Error for an entity that cannot be purged
   */
  purge(before: E): Change;
  /** Returns an event of the object. */
  eventOf(type: EventType, entity: E, data: EventDraft['data']): EventDraft;
}

const unversioned = new Set(['id', 'version', 'updatedAt']);

export function changesOf<E extends Entity, W extends Wire>(
  spec: ModelSpec<E, W>,
  rowOps: EntityOps<E>,
  source: Source<E> | null,
): EntityChanges<E> {
  const changeOf = changeOfRow(spec, rowOps, source);
  return {
    create: (entity) => changeOf(null, { ...entity, version: 1 } as E),
    update(before, patch, nowMs) {
      const moved = Object.keys(patch).some(
        (field) => !unversioned.has(field) && !sameValue(before[field as keyof E], patch[field as keyof E]),
      );
      if (!moved) return null;
      const touched = 'updatedAt' in before ? { updatedAt: nowMs } : {};
      return changeOf(before, { ...before, ...patch, ...touched, version: before.version + 1 });
    },
    purge: purgesOf(spec),
    eventOf: (type, entity, data) => draftOf(spec, type, entity, data),
  };
}

type ChangeOf<E> = Change & { readonly after: E };

function changeOfRow<E extends Entity, W extends Wire>(
  spec: ModelSpec<E, W>,
  rowOps: EntityOps<E>,
  source: Source<E> | null,
): (before: E | null, after: E) => ChangeOf<E> {
  const changeOf = (before: E | null, after: E): ChangeOf<E> => ({
    kind: spec.name,
    id: after.id,
    before,
    after,
    baseVersion: before?.version ?? null,
    isSilent: false,
    ...(source && { source: source as object as Source<Entity> }),
    ops(scope) {
      const { first = [], last = [] } = spec.related?.(scope, before, after) ?? {};
      const row = before ? rowOps.update(scope, before, after) : rowOps.insert(scope, after);
      return [...first, row, ...last];
    },
    events: (view) => draftsOf(spec, before, after, view),
    ...(spec.team && {
      isOfTeams: (ids) => [before ?? after, after].every((entity) => isOfSome(spec.team!.of(entity), ids)),
    }),
    followedBy(later) {
      if (later.kind !== spec.name || later.id !== after.id)
        throw new Error('A change can be followed only by another change of the same entity.');
      return changeOf(before, { ...(later.after as E), version: after.version });
    },
  });
  return changeOf;
}

function isOfSome(teams: string | readonly string[], ids: ReadonlySet<string>): boolean {
  return teams.length > 0 && areAmong(teams, ids);
}

/** Returns the purge of a model. Only deleted rows can be purged. */
function purgesOf<E extends Entity, W extends Wire>(spec: ModelSpec<E, W>): (before: E) => Change {
  const { name, table, purged, team } = spec;
  if (!purged)
    return () => {
      throw new Error(`A ${name} is never purged.`);
    };
  const removeRow = tenantStatement(
    `${table}.purge`,
    `DELETE FROM ${table} WHERE workspace_id = :ws AND id = :id AND version = :base AND deleted_at IS NOT NULL`,
  );
  return (before) => {
    const { id, version } = before;
    return {
      kind: name,
      id,
      before,
      after: before,
      baseVersion: version,
      isSilent: false,
      ops: (scope) => [
        ...purged.rows(scope, before),
        tenantOp(scope, removeRow, { id, base: version }, { expectRows: 1 }),
      ],
      events: (view) => [draftOf(spec, purged.event, before, spec.toResponse(before, view))],
      ...(team && { isOfTeams: (ids) => isOfSome(team.of(before), ids) }),
      followedBy() {
        throw new Error(`No change can follow the purge of ${name} ${id}.`);
      },
    };
  };
}

/** Returns the events of a change, all with the same data. @throws Error if there are none */
function draftsOf<E extends Entity, W extends Wire>(
  spec: ModelSpec<E, W>,
  before: E | null,
  after: E,
  view: View,
): EventDraft[] {
  const types = spec.events(before, after, view);
  if (types.length === 0) throw new Error(`A change of ${spec.name} ${after.id} derives no event.`);
  const show = spec.toEventData ?? spec.toResponse;
  const current = show(after, view);
  const data =
    before && !spec.withoutPrevious && !isAnnouncedAsNew(spec, before, after, types, view)
      ? { ...current, previous: previousValues(show(before, view), current) }
      : current;
  return types.map((type) => draftOf(spec, type, after, data));
}

/** True for a restored object whose restoration is announced as a creation: there are no previous values. */
function isAnnouncedAsNew<E extends Entity, W extends Wire>(
  spec: ModelSpec<E, W>,
  before: E & { readonly deletedAt?: number | null },
  after: E & { readonly deletedAt?: number | null },
  [type]: readonly EventType[],
  view: View,
): boolean {
  if ((before.deletedAt ?? null) === null || (after.deletedAt ?? null) !== null) return false;
  return spec.events(null, after, view).includes(type!);
}

function draftOf<E extends Entity, W extends Wire>(
  spec: ModelSpec<E, W>,
  type: EventType,
  entity: E,
  data: EventDraft['data'],
): EventDraft {
  return {
    type,
    entityType: spec.name,
    entityId: entity.id,
    subjectId: spec.subjectId?.(entity) ?? null,
    commitAssignedOf: spec.commitAssigned?.of(entity) ?? null,
    data,
  };
}
