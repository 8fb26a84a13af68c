// List parameter that includes deleted objects.
import { Type, type TObject } from 'typebox';
import { notDeleted } from '../changes/read/list.ts';
import { isRestorable, type Contract } from '../contract/contract.ts';
import { enumeration } from '../../platform/lib/schema.ts';
import type { Condition } from '../../platform/store/page.ts';

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
