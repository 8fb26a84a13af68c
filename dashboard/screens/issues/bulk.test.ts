import { expect, test } from 'bun:test';
import { ApiCallError, type Client } from '@tatami/sdk/client';
import { changeBulk, formerValues, inParts, undoBulk } from './bulk.ts';
import type { ListedIssue } from './list-data.ts';

const issue = {
  state: { id: 'wfs_1' },
  assignee: null,
  priority: 'low',
  labels: [{ id: 'lbl_1', name: 'bug' }],
} as unknown as ListedIssue;

test('the undo of a change gives back the former values of its fields alone', () => {
  expect(formerValues(issue, { state: 'Done', assigneeId: 'usr_1' })).toEqual({
    stateId: 'wfs_1',
    assigneeId: null,
  });
  expect(formerValues(issue, { priority: 'high' })).toEqual({ priority: 'low' });
});

test('the undo of labels touches only those that the change added or removed', () => {
  expect(formerValues(issue, { addLabels: ['lbl_1', 'lbl_2'] })).toEqual({ removeLabels: ['lbl_2'] });
  expect(formerValues(issue, { removeLabels: ['lbl_1', 'lbl_3'] })).toEqual({ addLabels: ['lbl_1'] });
});

const many = (count: number): { id: string; identifier: string }[] =>
  Array.from({ length: count }, (_, at) => ({ id: `iss_${at}`, identifier: `ENG-${at}` }));
const changed = (ids: readonly string[]) =>
  ids.map((id) => ({ id, identifier: null, version: 2, changes: { priority: { from: 'low', to: 'high' } } }));
const going = { signal: new AbortController().signal, onProgress: () => undefined };
const refused = (status: number, body: ConstructorParameters<typeof ApiCallError>[1]): ApiCallError =>
  new ApiCallError(status, body);

test('any number of issues changes, at most 500 with each request', async () => {
  const sizes: number[] = [];
  const progress: number[] = [];
  const { changes, failures, left } = await inParts(
    many(1_201),
    async (ids) => {
      sizes.push(ids.length);
      return changed(ids);
    },
    { ...going, onProgress: (done) => progress.push(done) },
  );
  expect([changes.length, failures.length, left]).toEqual([1_201, 0, 0]);
  expect(sizes).toEqual([500, 500, 201]);
  expect(progress).toEqual([500, 1_000, 1_201]);
});

test('an issue that cannot change does not prevent the others, and is listed with its reason', async () => {
  const { changes, failures } = await inParts(
    many(3),
    async (ids) => {
      const at = ids.indexOf('iss_1');
      if (at < 0) return changed(ids);
      const details = [{ path: `ids.${at}`, issue: 'conflict', fix: 'ENG-1: It has an open sub-issue.' }];
      throw refused(400, { code: 'validation_failed', details });
    },
    going,
  );
  expect(changes.map(({ id }) => id)).toEqual(['iss_0', 'iss_2']);
  expect(failures).toEqual([{ issue: many(2)[1]!, reason: 'It has an open sub-issue.' }]);
});

test('a part that is too large is divided', async () => {
  const { changes, failures } = await inParts(
    many(9),
    async (ids) => {
      if (ids.length > 2) throw refused(413, { code: 'budget_exceeded' });
      return changed(ids);
    },
    going,
  );
  expect([changes.length, failures.length]).toEqual([9, 0]);
});

test('a right that is missing ends the change, and all remaining issues have it as their reason', async () => {
  let calls = 0;
  const { changes, failures, error } = await inParts(
    many(1_500),
    async (ids) => {
      if (++calls > 1) throw refused(403, { code: 'forbidden', message: 'The role lacks issues:write.' });
      return changed(ids);
    },
    going,
  );
  expect([calls, changes.length, failures.length]).toEqual([2, 500, 1_000]);
  expect(failures[0]!.reason).toBe('The role lacks issues:write.');
  expect(error).toBeInstanceOf(ApiCallError);
});

test('a canceled change leaves the remaining issues as they are', async () => {
  const controller = new AbortController();
  const { changes, left } = await inParts(
    many(1_500),
    async (ids) => {
      controller.abort();
      return changed(ids);
    },
    { ...going, signal: controller.signal },
  );
  expect([changes.length, left]).toEqual([500, 1_000]);
});

test('one undo gives all parts of a change their former values', async () => {
  const issues = many(1_200).map((one, at) => ({
    ...one,
    priority: at % 2 ? 'low' : 'none',
  })) as ListedIssue[];
  const calls: [string, number][] = [];
  const client = {
    issues: {
      async bulkUpdate({ ids, set }: { ids: string[]; set: { priority: string } }) {
        calls.push([set.priority, ids.length]);
        return { data: changed(ids) };
      },
    },
  } as unknown as Client;
  const change = { kind: 'set', set: { priority: 'high' } } as const;
  const { changes } = await changeBulk(client, issues, change, going);
  const undone = await undoBulk(client, issues, change, changes, going);
  expect(undone.changes).toHaveLength(1_200);
  expect(calls).toEqual([
    ['high', 500],
    ['high', 500],
    ['high', 200],
    ['none', 500],
    ['none', 100],
    ['low', 500],
    ['low', 100],
  ]);
});
