import { expect, test } from 'bun:test';
import { formerValues } from './bulk.ts';
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
