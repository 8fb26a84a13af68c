// A declaration that names a missing column or leaves a decision out is a type error: each `@ts-expect-error` fails the check of
// types once the error is gone.
import { expect, test } from 'bun:test';
import { defineTable } from './define.ts';

const decided = {
  owner: 'workspace',
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: {},
  quotes: { none: 'people write its texts' },
  log: 'own',
} as const;

test('a declaration gets its key and columns from the schema', () => {
  const { key, columns, isGlobal, references } = defineTable('views', decided);
  expect([key, isGlobal, references, columns.includes('filter_json')]).toEqual([['id'], false, {}, true]);
  const { owners } = defineTable('relations', { ...decided, owner: { issues: ['from_id', 'issue_id'] } });
  expect(owners).toEqual([
    { table: 'issues', by: 'from_id' },
    { table: 'issues', by: 'issue_id' },
  ]);
});

test('a misspelt table or column does not compile', () => {
  // @ts-expect-error no table has this name
  expect(() => defineTable('vews', decided)).toThrow();
  // @ts-expect-error the column is `deleted_at`
  defineTable('views', { ...decided, retention: { days: 'deleted', since: 'deletedAt' } });
  // @ts-expect-error the column is `owner_id`
  defineTable('views', { ...decided, owner: { members: 'owner' } });
  // @ts-expect-error the column is `body`
  defineTable('comments', { ...decided, quotes: { columns: ['text'], atOnce: 10 } });
  // @ts-expect-error the column is `filter_json`
  defineTable('views', { ...decided, unlogged: { filter: 'hidden' } });
});

test('a table without an owner, a retention, an export decision or its quotations does not compile', () => {
  const { owner, retention, exported, quotes, log } = decided;
  // @ts-expect-error the owner is missing
  expect(() => defineTable('views', { retention, exported, quotes, log })).toThrow();
  // @ts-expect-error the retention is missing
  defineTable('views', { owner, exported, quotes, log });
  // @ts-expect-error the decision about the export is missing
  defineTable('views', { owner, retention, quotes, log });
  // @ts-expect-error the decision about quotations is missing
  defineTable('views', { owner, retention, exported, log });
  // @ts-expect-error what determines the rows is missing
  defineTable('views', { owner, retention, exported, quotes });
});
