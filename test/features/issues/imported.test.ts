// A key with `import:write` sets the creation time, author and number of an issue. Readers of the log, of updates and
// of pages still see the issue as new.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writtenFields } from '../../../core/kernel/rights/table.ts';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';

let app: TestApp;
let plain: Client;
let ana: string;
beforeAll(async () => {
  app = await startApp();
  plain = app.clientOf(await app.mintKey(['issues:write']));
  ana = (await app.call('POST', '/api/v1/members', { name: 'Ana' })).json.id;
});
afterAll(() => app.stop());

const at = (day: string): string => `${day}T08:00:00.000Z`;
const make = (title: string, more: object = {}) =>
  app.call('POST', '/api/v1/issues', { team: 'ENG', title, ...more });

test('an import stores the creation time and the author, and its event has the current time', async () => {
  expect((await app.call('DELETE', `/api/v1/members/${ana}`)).status).toBe(204);
  const after = await app.lastSequence();
  const { status, json } = await make('Old', {
    createdAt: '2019-05-01T10:00:00+02:00',
    creatorId: ana,
    labels: ['bug'],
  });
  expect(status).toBe(201);
  const { json: fetched } = await app.call('GET', `/api/v1/issues/${json.id}`);
  const now = new Date(app.clock.nowMs()).toISOString();
  expect(fetched).toMatchObject({
    createdAt: at('2019-05-01'),
    updatedAt: now,
    creator: { kind: 'user', id: ana, name: 'Ana' },
  });
  const { json: events } = await app.call('GET', `/api/v1/events?after=${after}`);
  expect(events.data).toMatchObject([
    { type: 'issue.created', created_at: now, data: { createdAt: at('2019-05-01') } },
  ]);
  const { json: since } = await app.call('GET', `/api/v1/issues?updatedSince=${now}`);
  expect(since.data.map(({ id }: Json) => id)).toContain(json.id);
});

test('an import field without the scope is refused by name in every body, and nothing is created', async () => {
  const before = await app.lastSequence();
  const taking = app.app.routes.filter((route) =>
    writtenFields(route).some((name) => ['createdAt', 'creatorId'].includes(name)),
  );
  expect(taking.length).toBeGreaterThan(1);
  for (const { also, name } of taking)
    expect([name, also?.words]).toEqual([name, expect.stringMatching(/import:write/)]);
  const entry = { team: 'ENG', title: 'x' };
  for (const more of [{ createdAt: at('2020-01-01') }, { creatorId: ana }, { number: 7 }])
    for (const [path, body] of [
      ['/api/v1/issues', { ...entry, ...more }],
      ['/api/v1/issues/bulk', { issues: [entry, { ...entry, ...more }] }],
    ] as const)
      expect(await plain('POST', path, body)).toMatchObject({
        status: 403,
        json: { error: { code: 'insufficient_scope', message: expect.stringContaining('import:write') } },
      });
  expect(await app.eventTypes(before)).toEqual([]);
  expect((await plain('POST', '/api/v1/issues', entry)).status).toBe(201);
});

test('a time in the future, an implausibly early one and an invalid one are refused at their path', async () => {
  const tomorrow = new Date(app.clock.nowMs() + 86_400_000).toISOString();
  for (const [more, path, issue] of [
    [{ createdAt: tomorrow }, 'createdAt', 'too_big'],
    [{ createdAt: '1969-12-31' }, 'createdAt', 'too_small'],
    [{ createdAt: '2020-02-30' }, 'createdAt', 'invalid_format'],
    [{ createdAt: 'yesterday' }, 'createdAt', 'invalid_format'],
    [{ creatorId: 'usr_00000000000000000000000001' }, 'creatorId', 'not_found'],
  ] as const) {
    expect((await make('x', more)).json.error?.details).toMatchObject([{ path, issue }]);
    const issues = [
      { team: 'ENG', title: 'x' },
      { team: 'ENG', title: 'x', ...more },
    ];
    const { json } = await app.call('POST', '/api/v1/issues/bulk', { issues });
    expect(json.error?.details).toMatchObject([{ path: `issues.1.${path}`, issue }]);
  }
});

test('an imported number is stored, is in the event, and never equals that of another issue', async () => {
  await app.call('POST', '/api/v1/teams', { key: 'NUM', name: 'Numbers' });
  const number = async (more: object): Promise<unknown> => {
    const { status, json } = await make('x', { team: 'NUM', ...more });
    return status === 201 ? json.identifier : json.error.details;
  };
  const taken = [
    { path: 'number', issue: 'already_exists', fix: expect.stringMatching(/^Leave the number out: /) },
  ];
  const after = await app.lastSequence();
  expect(await number({ number: 12 })).toBe('NUM-12');
  const { json: events } = await app.call('GET', `/api/v1/events?after=${after}`);
  expect(events.data).toMatchObject([
    {
      type: 'issue.created',
      data: { number: 12, identifier: 'NUM-12', url: expect.stringMatching(/NUM-12$/) },
    },
  ]);
  expect([await number({}), await number({ number: 3 }), await number({})]).toEqual([
    'NUM-13',
    'NUM-3',
    'NUM-14',
  ]);
  expect(await number({ number: 12 })).toEqual(taken);
  expect((await app.call('POST', '/api/v1/issues/NUM-14/move', { team: 'ENG' })).status).toBe(200);
  expect(await number({ number: 14 })).toEqual(taken);
  for (const wrong of [0, 1.5, 10_000_000])
    expect(await number({ number: wrong })).toMatchObject([{ path: 'number' }]);

  const bulk = (...numbers: (number | undefined)[]) =>
    app.call('POST', '/api/v1/issues/bulk', {
      issues: numbers.map((issueNumber) => ({ team: 'NUM', title: 'x', number: issueNumber })),
    });
  const refused = (await bulk(20, 12, 21, 20, 14)).json.error.details;
  expect(refused.map(({ path, issue }: Json) => `${path} ${issue}`)).toEqual(
    [1, 3, 4].map((index) => `issues.${index}.number already_exists`),
  );
  // The next free number is taken by a later entry.
  const { json } = await bulk(undefined, 15, undefined, 16);
  expect(json.data.map(({ identifier }: Json) => identifier)).toEqual([
    'NUM-17',
    'NUM-15',
    'NUM-18',
    'NUM-16',
  ]);
});

test('one of several concurrent imports of a number succeeds, and other creations take the next free numbers', async () => {
  await app.call('POST', '/api/v1/teams', { key: 'RACE', name: 'Race' });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => make('x', { team: 'RACE', ...(n % 2 === 0 ? { number: 4 } : {}) })),
  );
  const identifiers = answers.filter(({ status }) => status === 201).map(({ json }) => json.identifier);
  expect(answers.filter(({ status }) => status === 422)).toHaveLength(5);
  expect(new Set(identifiers).size).toBe(7);
  expect(identifiers).toContain('RACE-4');
});

test('lists sort by the imported time, and pages stay complete while older issues arrive', async () => {
  await app.call('POST', '/api/v1/teams', { key: 'OLD', name: 'Old' });
  const add = async (day: string): Promise<string> =>
    (await make(day, { team: 'OLD', createdAt: at(day), labels: ['bug'] })).json.title;
  for (const day of ['2020-03-01', '2020-01-01', '2020-05-01', '2020-04-01', '2020-02-01']) await add(day);
  for (const list of ['team=OLD', 'team=OLD&label=bug', 'team=OLD&sort=-createdAt']) {
    const { json } = await app.call('GET', `/api/v1/issues?${list}`);
    expect(json.data.map(({ title }: Json) => title)).toEqual([
      '2020-05-01',
      '2020-04-01',
      '2020-03-01',
      '2020-02-01',
      '2020-01-01',
    ]);
  }
  const seen: string[] = [];
  const readPage = async (after: string): Promise<string> => {
    const { json } = await app.call('GET', `/api/v1/issues?team=OLD&limit=2${after}`);
    seen.push(...json.data.map(({ title }: Json) => title));
    return json.pageInfo.hasNextPage ? `&after=${json.pageInfo.endCursor}` : '';
  };
  let next = await readPage('');
  await add('2020-04-15');
  await add('2020-02-15');
  while (next !== '') next = await readPage(next);
  expect(seen).toEqual(['2020-05-01', '2020-04-01', '2020-03-01', '2020-02-15', '2020-02-01', '2020-01-01']);
});
