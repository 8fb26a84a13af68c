// A kind says how one sort of entity is stored, shown and announced. It is the only maker of changes, and a change without
// an event fails here, so a write that nobody hears of cannot be expressed. Rows of the machinery are of no kind.
import type { Context, View } from '../context.ts';
import type { EventType } from '../events/catalogue.ts';
import { learnAtCommit, type Learning } from '../events/learning.ts';
import type { Condition } from '../store/page.ts';
import { tenantStatement, type Row } from '../store/statement.ts';
import { tenantOp, type Op, type Scope } from '../store/store.ts';
import { previousValues, sameValue, type Change, type Entity, type EventDraft } from './change.ts';
import { columnsOf, type Column, type PickedFields } from './columns.ts';
import { entityOpsOf, type EntityOps } from './entity-ops.ts';
import { areAmong, findingOf, type Alias } from './find.ts';
import type { ReadSet } from './reads.ts';
import { readingOf } from './reading.ts';
import type { AsItWas } from './past.ts';

type Wire = Readonly<Record<string, unknown>>;

export interface KindSpec<E extends Entity, W extends Wire> {
  readonly name: string;
  readonly table: string;
  /** Every field of the entity but id and version, with its column. */
  readonly fields: { readonly [F in Exclude<keyof E, 'id' | 'version'>]: string | Column };
  wire(entity: E, view: View): W;
  /** How its events show it, where they tell less than it shows to whoever may see it. */
  told?(entity: E, view: View): W;
  /** The events a change means, in order: at least one. */
  events(before: E | null, after: E, view: View): readonly EventType[];
  /** Whether its events are the same whatever was there before: they say no `previous`. */
  readonly isTold?: true;
  /** The object whose history its events belong to. */
  subjectId?(entity: E): string | null;
  /**
   * The id of the team it belongs to, or of all those that it does, and the condition over the table's columns that all are in a list.
   * What belongs to none is seen by everybody, and written by who may write in every team.
   */
  readonly team?: { of(entity: E): string | readonly string[]; isIn(list: string): string };
  /** What people call it by beside its id. */
  readonly alias?: Alias;
  /** What its events learn at commit, and of which object (its id), while the entity is shown without it. */
  readonly learns?: { readonly what: Learning; of(entity: E): string | null };
  /** The row of a moment of the past; absent where the log does not tell all of it. */
  readonly asItWas?: AsItWas<E>;
  /** Values computed by SQL on insert: column → expression over the statement's parameters. */
  readonly insertExpressions?: Readonly<Record<string, string>>;
  readonly follows?: Follows<E>;
  /** Of what can be removed for good: the event that says so, and the rows that go with it, first. */
  readonly purged?: { readonly event: EventType; rows(scope: Scope, entity: E): Op[] };
  /**
   * Brings back a deleted one of a kind whose comings and goings are told in the history of another object.
   * @throws {ApiError} where it cannot come back
   */
  comesBack?(ctx: Context, deleted: E): Promise<Change>;
  /** Writes beside the row itself: join rows, counters. `first` go before the row, `last` after it. */
  related?(scope: Scope, before: E | null, after: E): { first?: Op[]; last?: Op[] };
}

/** Fields that follow from another one. An undo puts them back along with it, and never by themselves. */
interface Follows<E extends Entity> {
  readonly from: string;
  readonly fields: readonly string[];
  of(ctx: Context, before: E, patch: Partial<E>): Partial<E>;
}

export interface Kind<E extends Entity, W> {
  readonly name: string;
  readonly table: string;
  /** The select list, its columns unaliased but for computed ones. */
  readonly select: string;
  /** Deleted rows stay, with the time in `deleted_at`. */
  readonly keepsDeleted: boolean;
  /** The condition that its team is one of a list; undefined where it belongs to none. */
  readonly isOfTeamIn: ((list: string) => string) | undefined;
  fromRow(row: Row): E;
  /** Some of its fields: their select list, and how a row of that is read. `id` is always among them. */
  pick(names: readonly string[]): PickedFields;
  readonly asItWas: AsItWas<E> | undefined;
  readonly follows: Follows<E> | undefined;
  wire(entity: E, view: View): W;
  /** By id or alias, staged changes included; nothing where the caller does not see its team. */
  find(ctx: Context, id: string): Promise<E | undefined>;
  /** The ids of what other names than ids stand for. */
  idsOf(ctx: Context, names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Those of the ids that are there, in no order. */
  findMany(ctx: Context, ids: readonly string[]): Promise<E[]>;
  /** Notes that a list was read, and its rows as the store handed them out. */
  noteList(reads: ReadSet, rows: readonly Row[], where: readonly Condition[]): void;
  create(entity: Omit<E, 'version'>): Change & { readonly after: E };
  /** Null when the patch changes nothing: no version, no event. `updatedAt` moves along where the kind has it. */
  update(before: E, patch: Partial<E>, nowMs: number): (Change & { readonly after: E }) | null;
  /** Undefined where `update` alone brings a deleted one back, or nothing does. @throws {ApiError} where this one cannot come back */
  readonly comesBack: ((ctx: Context, deleted: E) => Promise<Change>) | undefined;
  /** Removes a deleted row for good, told with the object as it was. @throws Error for a kind whose rows stay */
  purge(before: E): Change;
}

/** A kind of whichever entities. */
export type AnyKind = Pick<Kind<never, unknown>, 'name' | 'table' | 'keepsDeleted' | 'isOfTeamIn' | 'pick'>;

const unversioned = new Set(['id', 'version', 'updatedAt']);

export function defineKind<E extends Entity, W extends Wire>(spec: KindSpec<E, W>): Kind<E, W> {
  if (spec.learns) learnAtCommit(spec.name, spec.learns.what);
  const { name, table, insertExpressions = {} } = spec;
  const columns = columnsOf<E>(spec.fields, new Set(Object.keys(insertExpressions)));
  const changeOf = changesOf(spec, entityOpsOf(table, columns, insertExpressions));
  const reading = readingOf(name, table);
  const { find, findMany, idsOf } = findingOf({
    name,
    table,
    columns,
    alias: spec.alias,
    teamOf: spec.team?.of,
    reading,
    asItWas: spec.asItWas,
  });
  return {
    name,
    table,
    select: columns.select,
    keepsDeleted: 'deletedAt' in spec.fields,
    isOfTeamIn: spec.team?.isIn,
    fromRow: columns.read,
    pick: columns.pick,
    asItWas: spec.asItWas,
    follows: spec.follows,
    wire: spec.wire,
    find,
    findMany,
    idsOf,
    noteList: reading.noteList,
    create: (entity) => changeOf(null, { ...entity, version: 1 } as E),
    update(before, patch, nowMs) {
      const moved = Object.keys(patch).some(
        (field) => !unversioned.has(field) && !sameValue(before[field as keyof E], patch[field as keyof E]),
      );
      if (!moved) return null;
      const touched = 'updatedAt' in before ? { updatedAt: nowMs } : {};
      return changeOf(before, { ...before, ...patch, ...touched, version: before.version + 1 });
    },
    comesBack: spec.comesBack,
    purge: purgesOf(spec),
  };
}

type ChangeOf<E> = Change & { readonly after: E };

function changesOf<E extends Entity, W extends Wire>(
  spec: KindSpec<E, W>,
  rowOps: EntityOps<E>,
): (before: E | null, after: E) => ChangeOf<E> {
  const changeOf = (before: E | null, after: E): ChangeOf<E> => ({
    kind: spec.name,
    id: after.id,
    before,
    after,
    baseVersion: before?.version ?? null,
    isSilent: false,
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
        throw new Error('Only changes of one entity follow each other.');
      return changeOf(before, { ...(later.after as E), version: after.version });
    },
  });
  return changeOf;
}

function isOfSome(teams: string | readonly string[], ids: ReadonlySet<string>): boolean {
  return teams.length > 0 && areAmong(teams, ids);
}

/** Of a kind whose rows can go for good: only deleted ones do. */
function purgesOf<E extends Entity, W extends Wire>(spec: KindSpec<E, W>): (before: E) => Change {
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
      events: (view) => [draftOf(spec, purged.event, before, spec.wire(before, view))],
      ...(team && { isOfTeams: (ids) => isOfSome(team.of(before), ids) }),
      followedBy() {
        throw new Error(`Nothing follows the end of ${name} ${id}.`);
      },
    };
  };
}

/** The events of a change, all with the same data. @throws Error where it derives none */
function draftsOf<E extends Entity, W extends Wire>(
  spec: KindSpec<E, W>,
  before: E | null,
  after: E,
  view: View,
): EventDraft[] {
  const types = spec.events(before, after, view);
  if (types.length === 0) throw new Error(`A change of ${spec.name} ${after.id} derives no event.`);
  const show = spec.told ?? spec.wire;
  const shown = show(after, view);
  const data =
    before && !spec.isTold && !isToldAnew(spec, before, after, types, view)
      ? { ...shown, previous: previousValues(show(before, view), shown) }
      : shown;
  return types.map((type) => draftOf(spec, type, after, data));
}

/** Of what is there again after its deletion, where that is told as its coming: there is nothing that it was before. */
function isToldAnew<E extends Entity, W extends Wire>(
  spec: KindSpec<E, W>,
  before: E & { readonly deletedAt?: number | null },
  after: E & { readonly deletedAt?: number | null },
  [type]: readonly EventType[],
  view: View,
): boolean {
  if ((before.deletedAt ?? null) === null || (after.deletedAt ?? null) !== null) return false;
  return spec.events(null, after, view).includes(type!);
}

function draftOf<E extends Entity, W extends Wire>(
  spec: KindSpec<E, W>,
  type: EventType,
  entity: E,
  data: EventDraft['data'],
): EventDraft {
  return {
    type,
    entityKind: spec.name,
    entityId: entity.id,
    subjectId: spec.subjectId?.(entity) ?? null,
    learnsOf: spec.learns?.of(entity) ?? null,
    data,
  };
}
