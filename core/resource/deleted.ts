// Lists of what can be restored also show what is deleted, where they are asked to.
import { Type, type TObject } from 'typebox';
import { notDeleted } from '../changes/list.ts';
import { isRestorable, type Contract } from '../contract/contract.ts';
import { enumeration } from '../lib/schema.ts';
import type { Condition } from '../store/page.ts';

const choices = ['exclude', 'include', 'only'] as const;
export type Deleted = (typeof choices)[number];

const onlyDeleted: Condition = { sql: 'deleted_at IS NOT NULL', params: {} };

/** The parameter of such a list. */
export const deletedQuery = {
  deleted: Type.Optional({
    ...enumeration('Deleted', choices, 'Whether deleted ones are listed as well, or alone.'),
    default: 'exclude',
  }),
};

export function deletedQueryOf(contract: Contract): TObject['properties'] {
  return isRestorable(contract) ? deletedQuery : {};
}

/**
 * Narrows a list of objects that keep their deleted rows.
 * @param placeholders SQL for deleted objects that the list shows all the same, because others refer to them
 */
export function whereDeleted(deleted: Deleted = 'exclude', placeholders?: string): Condition[] {
  if (deleted === 'include') return [];
  if (deleted === 'exclude' && placeholders !== undefined)
    return [{ sql: `(deleted_at IS NULL OR ${placeholders})`, params: {} }];
  return [deleted === 'only' ? onlyDeleted : notDeleted];
}

/** The same of one object: what a run has staged is not as it is in the table. */
export function isListed(deleted: Deleted = 'exclude', { deletedAt }: { deletedAt: number | null }): boolean {
  return deleted === 'include' || (deletedAt !== null) === (deleted === 'only');
}
