import { expect, test } from 'bun:test';
import { changeText } from './change-text.ts';

const directory = {
  members: [{ id: 'mem_1', name: 'Ana' }],
  labels: [{ id: 'lbl_1', name: 'bug' }],
  projects: [],
  cycles: [],
};

test.each([
  [{ state: 'Done' }, 'State changes to “Done”.'],
  [{ priority: 'high' }, 'Priority changes to “High”.'],
  [{ assigneeId: 'mem_1' }, 'Assignee changes to “Ana”.'],
  [{ assigneeId: null }, 'Assignee changes to “No assignee”.'],
  [{ addLabels: ['lbl_1'] }, 'Label “bug” is added.'],
  [{ removeLabels: ['lbl_1'] }, 'Label “bug” is removed.'],
] as const)('the preview of %p names the field and the value', (set, sentence) => {
  expect(changeText(set as never, directory)).toBe(sentence);
});
