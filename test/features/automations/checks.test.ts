// A rule that cannot work is refused with the path of the part and a fix.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { onCreate, setHigh, v1 } from './rules.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await app.call('POST', `${v1}/boards`, { name: 'Sprint' });
  await app.call('POST', `${v1}/fields`, { key: 'severity', name: 'Severity', type: 'text' });
});
afterAll(() => app.stop());

const updated = { type: 'event', event: 'issue.updated' } as const;
const comment = { type: 'comment', body: 'Seen' } as const;

/** Returns path and message of the refusal of a rule. */
async function refusalOf(parts: object): Promise<[path: string, message: string]> {
  const body = { name: 'Wrong', trigger: onCreate, actions: [setHigh], ...parts };
  const { status, json } = await app.call('POST', `${v1}/automations`, body);
  expect([parts, status]).toEqual([parts, 422]);
  return [json.error.details[0].path, json.error.message];
}

const refused: readonly (readonly [what: string, parts: object, path: string, words: string])[] = [
  ['an unknown trigger', { trigger: { type: 'evnt' } }, 'trigger.type', 'Did you mean event?'],
  [
    'an unknown event',
    { trigger: { type: 'event', event: 'isue.created' } },
    'trigger.event',
    'issue.created',
  ],
  ['an event of runs', { trigger: { type: 'event', event: 'automation.run' } }, 'trigger.event', 'each run'],
  ['an unknown member', { trigger: { ...onCreate, filtr: {} } }, 'trigger.filtr', 'filter'],
  [
    'an unknown field',
    { trigger: { ...onCreate, filter: { prioritty: 'low' } } },
    'trigger.filter.prioritty',
    'priority',
  ],
  [
    'an unknown label',
    { trigger: { ...onCreate, filter: { label: 'bogus' } } },
    'trigger.filter.label',
    'no label',
  ],
  [
    'previous values of a new issue',
    { trigger: { ...onCreate, changed: ['title'] } },
    'trigger.changed',
    'issue.updated',
  ],
  [
    'an unknown changed field',
    { trigger: { ...updated, changed: ['prio'] } },
    'trigger.changed.0',
    'Did you mean priority?',
  ],
  [
    'an unknown action',
    { actions: [{ type: 'coment', body: 'x' }] },
    'actions.0.type',
    'Did you mean comment?',
  ],
  [
    'a field that issues lack',
    { actions: [{ type: 'set', fields: { prioriti: 'high' } }] },
    'actions.0.fields.prioriti',
    'Did you mean priority?',
  ],
  [
    'an invalid value',
    { actions: [{ type: 'set', fields: { priority: 'hight' } }] },
    'actions.0.fields.priority',
    'high',
  ],
  ...(
    [
      ['board', { type: 'board', board: 'Sprnt', column: 'Done' }, 'board', 'Did you mean Sprint?'],
      ['release', { type: 'release', release: 'Spring' }, 'release', 'no unpublished release Spring'],
      ['issue', { type: 'relate', relation: 'blocks', issue: 'ENG-999' }, 'issue', 'no issue ENG-999'],
      [
        'custom field',
        { type: 'set', fields: { fields: { severty: 'high' } } },
        'fields.fields.severty',
        'severity?',
      ],
      ['parent', { type: 'set', fields: { parent: 'ENG-999' } }, 'fields.parent', 'no issue ENG-999'],
    ] as const
  ).map(
    ([kind, action, path, words]) =>
      [`an unknown ${kind}`, { actions: [action] }, `actions.0.${path}`, words] as const,
  ),
  [
    'a misspelled field in a template',
    { actions: [{ type: 'comment', body: 'About {{ issue.titel }}' }] },
    'actions.0.body',
    'Did you mean "title"?',
  ],
  [
    'another parent of a sub-issue',
    { actions: [{ type: 'create', issues: [{ title: 'Part', parent: 'ENG-1' }] }] },
    'actions.0.issues.0.parent',
    'no other parent',
  ],
  ['several events', { trigger: { type: 'event', event: 'issue.*' } }, 'trigger.event', 'issue.created'],
  [
    'a misspelled name of a required part',
    { actions: [{ type: 'comment', bdy: 'Seen' }] },
    'actions.0.body',
    'actions.0.bdy: ',
  ],
  [
    'a field of issues beside the conditions',
    { conditions: { priority: 'high' } },
    'conditions.priority',
    'use one of issue, parent,',
  ],
  ['a change to anything', { trigger: { ...updated, to: {} } }, 'trigger.to', 'Every object matches'],
  [
    'a parent of issues without one',
    { trigger: { ...updated, filter: { parent: 'none' } }, conditions: { parent: { exists: true } } },
    'conditions.parent',
    'No issue can meet',
  ],
  [
    'a person who is no member',
    { actions: [{ type: 'assign', how: 'fixed', members: ['Nobody'] }] },
    'actions.0.members.0',
    'no such member',
  ],
  [
    'a loop in a template',
    { actions: [{ type: 'comment', body: '{% for a in b %}{% endfor %}' }] },
    'actions.0.body',
    'for',
  ],
  [
    'an unknown name in a template',
    { actions: [{ type: 'comment', body: '{{ isue.title }}' }] },
    'actions.0.body',
    'issue',
  ],
  [
    'an unknown host',
    { actions: [{ type: 'http', host: 'chat', path: '/x' }] },
    'actions.0.host',
    'no host chat',
  ],
  [
    'a cron without a date',
    { trigger: { type: 'schedule', cron: '0 0 30 2 *' }, issues: { filter: {} } },
    'trigger.cron',
    'never runs',
  ],
  [
    'an unknown time zone',
    { trigger: { type: 'schedule', cron: '0 9 * * *', timeZone: 'Europe/Berln' }, issues: { filter: {} } },
    'trigger.timeZone',
    'Europe/Berlin',
  ],
  [
    'a schedule without issues',
    { trigger: { type: 'schedule', cron: '0 9 * * *' } },
    'issues',
    'Give a filter',
  ],
  [
    'a parent that must not exist and match',
    { conditions: { parent: { exists: false, filter: { priority: 'low' } } } },
    'conditions.parent',
    'Leave out',
  ],
  [
    'values that exclude each other',
    { trigger: { ...onCreate, filter: { priority: 'high' } }, conditions: { issue: { priority: 'low' } } },
    'conditions.issue',
    'No issue can meet',
  ],
  [
    'a value that is excluded',
    {
      conditions: { issue: { and: [{ priority: ['high', 'low'] }, { priority: { nin: ['high', 'low'] } }] } },
    },
    'conditions.issue',
    'No issue can meet',
  ],
  [
    'limits that exclude each other',
    { conditions: { issue: { estimate: { gt: 5, lt: 3 } } } },
    'conditions.issue',
    'the limits exclude',
  ],
  [
    'no value and a value',
    { conditions: { issue: { and: [{ assignee: { null: true } }, { assignee: 'me' }] } } },
    'conditions.issue',
    '',
  ],
  [
    'a comment on every comment',
    { trigger: { type: 'event', event: 'comment.added' }, actions: [comment] },
    'actions.0',
    'would never end',
  ],
  [
    'a new issue for every new issue',
    { actions: [{ type: 'create', as: 'issue', issues: [{ team: 'ENG', title: 'x' }] }] },
    'actions.0',
    'would never end',
  ],
  [
    'a title that grows with every change',
    { trigger: updated, actions: [{ type: 'set', fields: { title: '{{ issue.title }}!' } }] },
    'actions.0',
    'would never end',
  ],
];

test.each(refused)('%s is refused', async (_, parts, path, words) => {
  const [at, message] = await refusalOf(parts);
  expect(at).toStartWith(path);
  expect(message).toContain(words);
});

test('conditions that can hold together are accepted', async () => {
  for (const parts of [
    {
      trigger: { ...onCreate, filter: { priority: ['high', 'low'] } },
      conditions: { issue: { priority: 'low' } },
    },
    { conditions: { issue: { or: [{ priority: 'low' }, { priority: 'high' }] } } },
    { conditions: { issue: { estimate: { gt: 3, lt: 5 } } } },
    { trigger: { type: 'event', event: 'comment.added' }, actions: [{ ...comment, once: true }] },
    { trigger: updated, actions: [setHigh] },
  ]) {
    const body = { trigger: onCreate, actions: [setHigh], ...parts };
    expect([parts, (await app.call('POST', `${v1}/automations/preview`, body)).status]).toEqual([parts, 202]);
  }
});
