// List parameters for deleted and archived objects, which lists omit by default, and the operations that
// archive and unarchive an object.
import { type TObject, Type } from 'typebox';
import { Closed, enumeration, nameOf } from '../../platform/lib/schema.ts';
import type { Condition } from '../../platform/store/page.ts';
import type { Entity } from '../changes/change.ts';
import { notDeleted } from '../changes/list.ts';
import type { EntityModel } from '../changes/model.ts';
import { getEntity, updated } from '../changes/operations.ts';
import { type Contract, isRestorable, scopeOfContract } from '../contract/contract.ts';
import { schemasOf } from '../contract/schemas.ts';
import { defineRoute } from '../http/route.ts';

const choices = ['exclude', 'include', 'only'] as const;
export type Deleted = (typeof choices)[number];

const onlyDeleted: Condition = { sql: 'deleted_at IS NOT NULL', params: {} };

export const deletedQuery = {
  deleted: Type.Optional({
    ...enumeration(
      'Deleted',
      choices,
      'Treatment of deleted objects: `exclude` omits them, `include` adds them, `only` omits all others.',
    ),
    default: 'exclude',
  }),
};

export function deletedQueryOf(contract: Contract): TObject['properties'] {
  return isRestorable(contract) ? deletedQuery : {};
}

/**
 * Returns the conditions of a list of objects whose deleted rows stay in the table.
 * @param placeholders SQL for deleted objects that the list shows anyway, because others refer to them
 */
export function whereDeleted(deleted: Deleted = 'exclude', placeholders?: string): Condition[] {
  if (deleted === 'include') return [];
  if (deleted === 'exclude' && placeholders !== undefined)
    return [{ sql: `(deleted_at IS NULL OR ${placeholders})`, params: {} }];
  return [deleted === 'only' ? onlyDeleted : notDeleted];
}

/** Applies the `deleted` parameter to one object: staged and past objects are not in the table. */
export function isListed(deleted: Deleted = 'exclude', { deletedAt }: { deletedAt: number | null }): boolean {
  return deleted === 'include' || (deletedAt !== null) === (deleted === 'only');
}

type Archived = 'exclude' | 'include' | 'only';

export const archivedQuery = {
  archived: Type.Optional({
    ...enumeration(
      'Archived',
      ['exclude', 'include', 'only'],
      'Treatment of archived objects: `exclude` omits them, `include` adds them, `only` omits all others.',
    ),
    default: 'exclude',
  }),
} satisfies TObject['properties'];

type Query = Readonly<Record<string, unknown>>;
const conditions: Readonly<Record<Archived, readonly Condition[]>> = {
  exclude: [{ sql: 'archived_at IS NULL', params: {} }],
  include: [],
  only: [{ sql: 'archived_at IS NOT NULL', params: {} }],
};

export const whereArchived = ({ archived = 'exclude' }: Query): readonly Condition[] =>
  conditions[archived as Archived];

/** Applies the `archived` parameter to the public representation of an object at a past moment. */
export function wasArchivedSo({ archived = 'exclude' }: Query, was: Query): boolean {
  return archived === 'include' || ((was.archivedAt ?? null) !== null) === (archived === 'only');
}

type Archivable = Entity & { readonly archivedAt: number | null };

/** Archives or unarchives an object; one already in the requested state gets no new version. */
export function archiving<E extends Archivable, W>(
  contract: Contract,
  model: EntityModel<E, W>,
  verb: 'archive' | 'unarchive',
  words: { readonly summary: string; readonly description?: string },
) {
  return defineRoute({
    ...words,
    method: 'POST',
    path: `/api/v1/${contract.path}/{id}/${verb}`,
    name: `${contract.path}.${verb}`,
    scope: scopeOfContract(contract, 'write'),
    ...(contract.ofTeam ? { rows: 'team' as const } : {}),
    writes: ['archivedAt'],
    limit: 'write',
    params: Closed({ id: nameOf(contract) }),
    responses: { 200: schemasOf(contract).response },
    async write(ctx, { params, ifMatch }) {
      const entity = await getEntity(ctx, model, params.id);
      const isArchived = verb === 'archive';
      const already = (entity.archivedAt !== null) === isArchived;
      const patch = already ? {} : { archivedAt: isArchived ? ctx.nowMs() : null };
      return updated(ctx, model, entity, patch as Partial<E>, ifMatch);
    },
  });
}
