import { expect, test } from 'bun:test';
import { EVENT_TYPES } from '@tatami/sdk/webhooks';
import { sentenceOf } from './sentences.ts';

type Node = Parameters<typeof sentenceOf>[0];

const event = (type: string, fields: readonly (readonly [string, unknown, unknown])[] = [], types = [type]) =>
  ({
    id: 'evt_1',
    kind: 'event',
    actor: 'Ana',
    type,
    types,
    name: null,
    fields: fields.map(([field, from, to]) => ({ field, from, to })),
    run: null,
    delivery: null,
    proposal: null,
    undo: null,
  }) as unknown as Node;

const at = '2026-11-29T12:00:00.000Z';

test('every event of issues, comments, reactions and SLAs has a sentence without codes', () => {
  const shown = EVENT_TYPES.filter((type) => /^(issue|comment|reaction|sla)\./.test(type));
  for (const type of shown) expect(sentenceOf(event(type))).toMatch(/^Ana [a-z]+ [^._]+$|^Ana commented$/);
});

test('an event names its attachment, and the other issue of its relation', () => {
  const added = { ...event('issue.attachment_added'), name: 'trace.txt' };
  expect(sentenceOf(added)).toBe('Ana added an attachment: trace.txt');
  const removed = { ...event('issue.relation_removed'), name: 'blocks ENG-19' };
  expect(sentenceOf(removed)).toBe('Ana removed a relation: blocks ENG-19');
});

test('an unknown event shows its type', () => {
  expect(sentenceOf(event('thing.happened'))).toBe('Ana: thing.happened');
});

test('fields that follow from another one are left out', () => {
  const state = ['state', { id: 'a', name: 'To do' }, { id: 'b', name: 'Doing' }] as const;
  const change = event('issue.updated', [state, ['startedAt', null, at], ['updatedAt', at, at]]);
  expect(sentenceOf(change)).toBe('Ana changed the state from To do to Doing');
});

test('a field that follows from another one is shown if it is alone, with its time', () => {
  expect(sentenceOf(event('issue.updated', [['startedAt', null, at]]))).toMatch(
    /^Ana set the start time to Nov 29, 2026, \d+:00\s[AP]M$/,
  );
});

test('values are words: dates, priorities, and added and removed labels', () => {
  expect(sentenceOf(event('issue.updated', [['dueDate', null, '2026-12-24']]))).toBe(
    'Ana set the due date to Dec 24, 2026',
  );
  expect(sentenceOf(event('issue.updated', [['priority', 'none', 'high']]))).toBe(
    'Ana changed the priority from No priority to High',
  );
  expect(sentenceOf(event('issue.updated', [['assignee', { name: 'Bo' }, null]]))).toBe(
    'Ana removed the assignee Bo',
  );
  const labels = ['labels', [{ name: 'bug' }, { name: 'ui' }], [{ name: 'ui' }, { name: 'api' }]] as const;
  expect(sentenceOf(event('issue.updated', [labels]))).toBe('Ana added labels: api; removed labels: bug');
});

test('a state that only changes its team is left out', () => {
  const fields = [
    ['state', { id: 'a', name: 'Backlog' }, { id: 'b', name: 'Backlog' }],
    ['team', { name: 'Design' }, { name: 'Operations' }],
  ] as const;
  expect(sentenceOf(event('issue.updated', fields, ['issue.updated', 'issue.moved']))).toBe(
    'Ana moved the issue; changed the team from Design to Operations',
  );
});

test('long texts and objects without a name are named, but not shown', () => {
  expect(sentenceOf(event('issue.updated', [['description', 'a', 'b'.repeat(100)]]))).toBe(
    'Ana changed the description',
  );
  expect(sentenceOf(event('issue.updated', [['fields', {}, { size: 3 }]]))).toBe(
    'Ana changed the custom fields',
  );
});

test('all events of one change are in one sentence', () => {
  const state = ['state', { name: 'Triage' }, { name: 'Backlog' }] as const;
  const types = ['issue.updated', 'issue.state_changed', 'issue.triage_accepted'];
  expect(sentenceOf(event('issue.updated', [state], types))).toBe(
    'Ana accepted the issue from triage; changed the state from Triage to Backlog',
  );
});
