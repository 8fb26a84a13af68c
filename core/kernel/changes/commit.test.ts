import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Directory } from '../context.ts';
import { appendStatement, assignAtCommit } from '../events/log/append.ts';
import { createFreshEvents } from '../events/consumers/fresh.ts';
import { createIds } from '../../platform/lib/ids.ts';
import { openStore, type OpenedStore } from '../../platform/store/open-store.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { scopeOf, tenantOp, type Op } from '../../platform/store/store.ts';
import type { Change } from './change.ts';
import { createCommitter, systemAuthor, type Committer } from './commit.ts';

const scope = scopeOf('00000000-0000-7000-8000-000000000001');
const author = systemAuthor(scope, 'tests', {} as Directory);
const touch = tenantStatement(
  'test.touch_cursor',
  'UPDATE cursors SET sequence = sequence WHERE workspace_id = :ws AND consumer = :consumer',
);
/** Rejected by the commit, because the cursor row does not exist. */
const failing: Op = tenantOp(scope, touch, { consumer: 'nobody' }, { expectRows: 1 });
const passing: Op = tenantOp(scope, touch, { consumer: 'nobody' });
assignAtCommit('measured', {
  append: appendStatement('test.append_with_length', 'length(:learnsOf)'),
  waits: /never/,
  complete: (object, length) => ({ ...object, length }),
  hide: (object) => object,
});

let dir: string;
let opened: OpenedStore;
let committer: Committer;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tatami-commit-'));
  opened = openStore(dir, () => 0);
  committer = createCommitter({
    store: opened.store,
    ids: createIds(() => 0),
    nowMs: () => 0,
    baseUrl: '',
    fresh: createFreshEvents(),
    directoryAfter: (directory) => directory,
  });
});
afterAll(async () => {
  await opened.close();
  rmSync(dir, { recursive: true });
});

function changeWith(op: Op, commitAssignedOf: string | null): Change {
  const draft = {
    type: 'label.created',
    entityType: 'measured',
    subjectId: null,
    commitAssignedOf,
    data: {},
  } as const;
  return {
    kind: 'measured',
    id: 'one',
    before: null,
    after: { id: 'one', version: 1 },
    baseVersion: null,
    isSilent: false,
    ops: () => [op],
    events: () => [{ ...draft, entityId: 'one' }],
    followedBy: (later) => later,
  };
}

test('a rejected batch reports the part with the failing operation', async () => {
  const [good, bad] = [changeWith(passing, null), changeWith(failing, null)];
  const parts = [];
  for (const [guard, change, last] of [
    [failing, good, passing],
    [passing, bad, passing],
    [passing, good, { ...failing }],
    [passing, good, passing],
  ] as const) {
    const committed = await committer.commit(author, [change], [guard], [last]);
    parts.push(committed.ok ? 'none' : committed.part);
  }
  expect(parts).toEqual(['guard', 'change', 'last', 'none']);
});

test('a commit completes the response with the values that it assigned', async () => {
  const changes = [changeWith(passing, 'four'), changeWith(passing, null), changeWith(passing, 'sixsix')];
  const committed = await committer.commit(author, changes);
  const body = { data: [{ id: 'four' }, { id: 'sixsix' }, { id: 'one' }] };
  expect(committed.ok && committed.completed(body)).toEqual({
    data: [{ id: 'four', length: 4 }, { id: 'sixsix', length: 6 }, { id: 'one' }],
  });
  const plain = await committer.commit(author, [changeWith(passing, null)]);
  expect(plain.ok && plain.completed(body)).toBe(body);
});
