import { expect, test } from 'bun:test';
import { eventGroups, eventWords } from './events.ts';
import { parseRule, withPath, type Rule } from './rule.ts';
import { cronOf, timesOf, type Times } from './schedule.ts';
import { sentenceOf, type Names } from './sentence.ts';

const names: Names = {
  label: [{ id: 'lbl_1', name: 'bug' }],
  priority: [{ id: 'high', name: 'High' }],
  assignee: [{ id: 'mem_1', name: 'Ana' }],
  state: [{ id: 'completed', name: 'Done' }],
};

const created = { type: 'event', event: 'issue.created' };
const setHigh = { type: 'set', fields: { priority: 'high' } };
const rule = (parts: Partial<Rule>): Rule => ({
  ...{ trigger: created, conditions: {}, issues: null, actions: [setHigh] },
  ...parts,
});

test.each<[string, Partial<Rule>]>([
  [
    'When an issue is created and its label is bug, set the priority to High',
    { conditions: { issue: { label: ['lbl_1'] } } },
  ],
  [
    'When an issue changes so that no longer its state is Done, clear the assignee and comment “Open again.”',
    {
      trigger: { type: 'event', event: 'issue.updated', from: { state: ['completed'] } },
      actions: [
        { type: 'set', fields: { assignee: null } },
        { type: 'comment', body: 'Open again.' },
      ],
    },
  ],
  [
    'When the due date of an issue changes, set the priority to High on its parent',
    {
      trigger: { type: 'event', event: 'issue.updated', changed: ['dueDate'] },
      actions: [{ ...setHigh, on: 'parent' }],
    },
  ],
  [
    'Every Monday at 09:00 (Europe/Berlin), for each issue whose state is Done: assign in turn Ana',
    {
      trigger: { type: 'schedule', cron: '0 9 * * 1', timeZone: 'Europe/Berlin' },
      issues: { filter: { state: ['completed'] } },
      actions: [{ type: 'assign', how: 'round_robin', members: ['mem_1'] }],
    },
  ],
  [
    'When an issue has not changed for 14 days and it has no parent, do mystery',
    {
      trigger: { type: 'unchanged', days: 14 },
      conditions: { parent: { exists: false } },
      actions: [{ type: 'mystery' }],
    },
  ],
])('a rule is the sentence %p', (sentence, parts) => {
  expect(sentenceOf(rule(parts), names)).toBe(sentence);
});

test.each<[string, object]>([
  [
    'its title contains fire or description contains fire',
    { or: ['title', 'description'].map((name) => ({ [name]: { contains: 'fire' } })) },
  ],
  ['its not label is bug', { not: { label: 'lbl_1' } }],
  ['its milestone is Beta', { milestone: 'Beta' }],
  ['its priority is at least High', { priority: { gte: 'high' } }],
  ['its due date is at least P1D and is below P7D', { dueDate: { gte: 'P1D', lt: 'P7D' } }],
  ['its other conditions', { dueDate: { overlaps: 'P7D' } }],
])('a filter that no chip shows is "%s"', (words, issue) => {
  expect(sentenceOf(rule({ conditions: { issue } }), names)).toContain(` and ${words}, set`);
});

test.each(['15 * * * *', '30 8 * * *', '0 9 * * 1-5', '0 17 * * 5', '0 6 1 * *'])(
  'the choices of the schedule %p give the same schedule',
  (cron) => {
    expect(cronOf(timesOf(cron))).toBe(cron);
  },
);

test.each(['*/5 9-17 * * 1,3', '61 25 * * *', '0 24 * * 1', '0 9 32 * *', '0 9 0 * *', '60 * * * *'])(
  'the schedule %p, which has no choices, stays as the person wrote it',
  (cron) => {
    const times: Times = timesOf(cron);
    expect([times.frequency, cronOf(times)]).toEqual(['cron', null]);
  },
);

test('every event type that the editor offers has words and one group', () => {
  const types = eventGroups.flatMap((group) => group.types);
  expect(new Set(types).size).toBe(types.length);
  expect(types.filter((type) => /_|\.|undefined/.test(eventWords(type)))).toEqual([]);
});

test('a rule of another shape is not read from JSON', () => {
  expect(parseRule('{"trigger": {"type": "manual"}, "actions": []}')).toEqual({
    trigger: { type: 'manual' },
    conditions: {},
    issues: null,
    actions: [],
  });
  for (const json of ['', '[]', '{"trigger": {}}', '{"trigger": {}, "actions": [1]}', 'null'])
    expect([json, parseRule(json)]).toEqual([json, null]);
});

test('a value of a template is replaced at each of its paths', () => {
  const template = rule({ actions: [{ type: 'assign', how: 'fixed', members: '$members' }] });
  expect(withPath(template, 'actions.0.members', ['Ana'])).toEqual(
    rule({ actions: [{ type: 'assign', how: 'fixed', members: ['Ana'] }] }),
  );
  expect(withPath(template, 'actions.1.members', ['Ana'])).toEqual(template);
});
