// Every action of a rule, by its outcome and its events.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { rulesOf } from './engine-rules.ts';

let app: TestApp;
const { ok, issue, get, act, rule, run, typesSince } = rulesOf(() => app);
let ana: Json;
let ben: Json;

beforeAll(async () => {
  app = await startApp();
  await ok('POST', '/teams', { key: 'OPS', name: 'Operations' });
  ana = await ok('POST', '/members', { name: 'Ana', email: 'ana@acme.example' });
  ben = await ok('POST', '/members', { name: 'Ben', email: 'ben@acme.example' });
  await ok('POST', '/labels', { name: 'urgent-fix' });
  await ok('POST', '/fields', {
    ...{ key: 'areas', name: 'Areas', type: 'multi_select' },
    options: ['ui', 'api', 'docs'].map((value) => ({ value, name: value.toUpperCase() })),
  });
  await ok('POST', '/fields', { key: 'ticket', name: 'Ticket', type: 'text' });
});
afterAll(() => app.stop());

/** Runs actions on an issue twice. @returns the types of the events of each run */
async function typesOfTwo(actions: readonly object[], of: Json): Promise<[string[], string[]]> {
  const id = await rule(actions);
  const types: string[][] = [];
  for (let time = 0; time < 2; time++) {
    const from = await app.lastSequence();
    expect(await run(id, of)).toMatchObject({ status: 'succeeded' });
    types.push(await typesSince(from));
  }
  return types as [string[], string[]];
}

/** Returns the error of a run of these actions on a new issue. */
async function errorOf(actions: readonly object[], more: object = {}): Promise<string> {
  const { status, error } = await run(await rule(actions, more), await issue());
  expect(status).toBe('dead');
  return error.message;
}

describe('set', () => {
  test('changes fields in one update, and a second run changes nothing', async () => {
    const one = await issue();
    const fields = {
      priority: 'high',
      state: 'Done',
      assignee: 'Ana',
      estimate: 3,
      fields: { ticket: 'T-1' },
    };
    expect(await typesOfTwo([{ type: 'set', fields }], one)).toEqual([
      ['issue.updated', 'issue.state_changed', 'issue.assigned', 'issue.subscribed'],
      [],
    ]);
    expect(await get(one)).toMatchObject({
      ...{ priority: 'high', state: { name: 'Done' }, assignee: { id: ana.id }, estimate: 3 },
      fields: { ticket: 'T-1' },
    });
  });

  test('copies values with their types from templates, and null for unknown names', async () => {
    const parent = await issue({ assignee: ana.id, labels: ['urgent-fix'], estimate: 5 });
    const one = await issue({ parentId: parent.id, title: 'Part', dueDate: '2027-01-01' });
    const fields = {
      title: '{{ issue.title | upcase }} of {{ parent.identifier }}',
      ...{
        assignee: '{{ parent.assignee }}',
        labels: '{{ parent.labels }}',
        estimate: '{{ parent.estimate }}',
      },
      dueDate: '{{ webhook.day }}',
    };
    await act([{ type: 'set', fields }], one);
    expect(await get(one)).toMatchObject({
      ...{ title: `PART of ${parent.identifier}`, assignee: { id: ana.id }, estimate: 5, dueDate: null },
      labels: [{ name: 'urgent-fix' }],
    });
  });

  test('names the action, the issue and the cause in an error, and writes nothing', async () => {
    const one = await issue();
    const id = await rule([
      { type: 'set', fields: { priority: 'low' } },
      { type: 'set', fields: { state: 'Don' } },
    ]);
    const { status, error } = await run(id, one);
    expect([status, error.code]).toEqual(['dead', 'drop']);
    expect(error.message).toStartWith(`Drop: Action 2 (set) on ${one.identifier}: `);
    expect(error.message).toContain('Don');
    expect(await get(one)).toMatchObject({ priority: 'none', version: one.version });
  });
});

describe('add and remove', () => {
  test('change labels, and nothing the second time', async () => {
    const one = await issue();
    const add = { type: 'add', field: 'labels', values: ['urgent-fix'] };
    expect(await typesOfTwo([add], one)).toEqual([['issue.updated', 'issue.labeled'], []]);
    expect((await get(one)).labels).toMatchObject([{ name: 'urgent-fix' }]);
    await act([{ ...add, type: 'remove' }], one);
    expect((await get(one)).labels).toEqual([]);
  });

  test('change custom fields with several values, and nothing the second time', async () => {
    const one = await issue({ fields: { areas: ['ui'] } });
    const add = { type: 'add', field: 'fields.areas', values: ['ui', 'docs'] };
    expect(await typesOfTwo([add], one)).toEqual([['issue.updated'], []]);
    expect((await get(one)).fields.areas).toEqual(['ui', 'docs']);
    await act([{ type: 'remove', field: 'areas', values: ['ui', 'api'] }], one);
    expect((await get(one)).fields.areas).toEqual(['docs']);
  });
});

test('move changes the team and the state, and a second move changes nothing', async () => {
  const one = await issue();
  const [first, second] = await typesOfTwo([{ type: 'move', team: 'OPS', state: 'Todo' }], one);
  expect([first, second]).toEqual([expect.arrayContaining(['issue.moved']), []]);
  expect(await get(one)).toMatchObject({ team: { key: 'OPS' }, state: { name: 'Todo' } });
});

describe('comment', () => {
  const bodies = async (of: Json): Promise<string[]> =>
    (await ok('GET', `/issues/${of.id}/comments`)).data.map(({ body }: Json) => body);

  test('renders its text at each run', async () => {
    const one = await issue();
    const body = '{% if issue.assignee %}Owned{% else %}Nobody owns {{ issue.identifier }}{% endif %}.';
    expect(await typesOfTwo([{ type: 'comment', body }], one)).toEqual([
      ['comment.added'],
      ['comment.added'],
    ]);
    expect(await bodies(one)).toEqual(Array(2).fill(`Nobody owns ${one.identifier}.`));
  });

  test('with `once` appears once while it exists, also if two actions write it in one run', async () => {
    const one = await issue();
    const comment = { type: 'comment', body: 'Please add an estimate.', once: true };
    expect(await typesOfTwo([comment, comment], one)).toEqual([['comment.added'], []]);
    const [written] = (await ok('GET', `/issues/${one.id}/comments`)).data;
    await app.call('DELETE', `/api/v1/comments/${written.id}`);
    await act([comment], one);
    expect(await bodies(one)).toEqual(['Please add an estimate.']);
  });

  test('with `once` ignores the same text of a person', async () => {
    const one = await issue();
    await ok('POST', `/issues/${one.id}/comments`, { body: 'Seen.' });
    await act([{ type: 'comment', body: 'Seen.', once: true }], one);
    expect(await bodies(one)).toEqual(['Seen.', 'Seen.']);
  });
});

describe('create', () => {
  test('makes sub-issues in the team of the issue', async () => {
    const one = await issue({ priority: 'high' });
    const from = await app.lastSequence();
    const issues = [
      { title: 'Test {{ issue.title }}', priority: '{{ issue.priority }}' },
      { title: 'Document', team: 'OPS' },
    ];
    await act([{ type: 'create', issues }], one);
    expect(await typesSince(from)).toEqual(expect.arrayContaining(['issue.created', 'issue.created']));
    const { data } = await ok('GET', `/issues?parent=${one.id}&sort=title`);
    expect(data).toMatchObject([
      { title: 'Document', team: { key: 'OPS' }, priority: 'none' },
      { title: 'Test One', team: { key: 'ENG' }, priority: 'high' },
    ]);
  });

  test('makes issues without a parent', async () => {
    await act([{ type: 'create', as: 'issue', issues: [{ title: 'Follow-up' }] }], await issue());
    const { data } = await ok('GET', '/issues?limit=1');
    expect(data).toMatchObject([{ title: 'Follow-up', parent: null, team: { key: 'ENG' } }]);
  });

  test('names a missing title', async () => {
    expect(await errorOf([{ type: 'create', issues: [{ title: '' }] }])).toMatch(
      /Action 1 \(create\) on ENG-\d+: .*title/i,
    );
  });
});

test('relate connects two issues once, by identifier or id', async () => {
  const [one, other] = [await issue(), await issue()];
  const relate = { type: 'relate', relation: 'blocks', issue: other.identifier.toLowerCase() };
  const [first, second] = await typesOfTwo([relate], one);
  expect([first, second]).toEqual([['issue.relation_added', 'issue.relation_added'], []]);
  await act([{ ...relate, issue: other.id }], one);
  const { data } = await ok('GET', `/issues/${other.id}/relations`);
  expect(data.map(({ type }: Json) => type)).toEqual(['blocked_by']);
});

describe('assign', () => {
  const assigneeOf = async (one: Json): Promise<string> => (await get(one)).assignee?.name;

  test('with `fixed` assigns one member, and nothing the second time', async () => {
    const one = await issue();
    const assign = { type: 'assign', how: 'fixed', members: [ben.id] };
    const [first, second] = await typesOfTwo([assign], one);
    expect([first, second]).toEqual([expect.arrayContaining(['issue.assigned']), []]);
    expect(await assigneeOf(one)).toBe('Ben');
  });

  test('with `round_robin` assigns the members in turn', async () => {
    const id = await rule([
      { type: 'assign', how: 'round_robin', members: [ana.id, 'Ben', 'ana@acme.example'] },
    ]);
    const names: string[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const one = await issue();
      await run(id, one);
      names.push(await assigneeOf(one));
    }
    expect(names).toEqual(['Ana', 'Ben', 'Ana', 'Ana']);
  });

  test('with `least_open` assigns the member with the fewest open issues, the first of several', async () => {
    const [cleo, dan] = [
      await ok('POST', '/members', { name: 'Cleo' }),
      await ok('POST', '/members', { name: 'Dan' }),
    ];
    const closed = await issue({ assignee: dan.id });
    await ok('PATCH', `/issues/${closed.id}`, { state: 'completed' });
    await issue({ assignee: cleo.id });
    const id = await rule([{ type: 'assign', how: 'least_open', members: [cleo.id, dan.id] }]);
    const names: string[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const one = await issue();
      await run(id, one);
      names.push(await assigneeOf(one));
    }
    expect(names).toEqual(['Dan', 'Cleo', 'Dan']);
  });
});

test('subscribe subscribes each member once', async () => {
  const one = await issue();
  expect(await typesOfTwo([{ type: 'subscribe', members: [ana.id, ben.id] }], one)).toEqual([
    ['issue.subscribed', 'issue.subscribed'],
    [],
  ]);
  const { data } = await ok('GET', `/issues/${one.id}/subscribers`);
  expect(data.map(({ member }: Json) => member.name)).toEqual(expect.arrayContaining(['Ana', 'Ben']));
});

describe('board', () => {
  test('moves a card by the names of the board and the column, and nothing the second time', async () => {
    await ok('POST', '/boards', { name: 'Sprint', team: 'ENG' });
    const one = await issue();
    const [first, second] = await typesOfTwo(
      [{ type: 'board', board: 'Sprint', column: 'in progress' }],
      one,
    );
    expect([first, second]).toEqual([
      expect.arrayContaining(['issue.state_changed', 'board.card_moved']),
      [],
    ]);
    expect((await get(one)).state.name).toBe('In Progress');
  });

  test('names the columns of the board in an error', async () => {
    await ok('POST', '/boards', { name: 'Errors', team: 'ENG' });
    expect(await errorOf([{ type: 'board', board: 'Errors', column: 'Doing' }])).toContain(
      'The board "Errors" has no column "Doing". Use "Triage", "Backlog",',
    );
    expect(await errorOf([{ type: 'board', board: 'None', column: 'Doing' }])).toContain(
      'There is no board "None".',
    );
  });
});

describe('cycle', () => {
  test('plans an issue in the current and the next cycle, and removes it', async () => {
    const day = (days: number): string => new Date(app.clock.now() + days * 86_400_000).toISOString();
    expect(await errorOf([{ type: 'cycle', cycle: 'current' }])).toContain('Team ENG has no current cycle.');
    const current = await ok('POST', '/cycles', { team: 'ENG', startsAt: day(1), endsAt: day(8) });
    const next = await ok('POST', '/cycles', { team: 'ENG', startsAt: day(8), endsAt: day(15) });
    await ok('POST', `/cycles/${current.id}/start`);
    const one = await issue();
    for (const [cycle, id] of [
      ['current', current.id],
      ['next', next.id],
      [null, null],
      [current.id, current.id],
    ] as const) {
      await act([{ type: 'cycle', cycle }], one);
      expect((await get(one)).cycle?.id ?? null).toBe(id);
    }
  });
});

test('release adds an issue to an unpublished release by name, and removes it', async () => {
  const pipeline = await ok('POST', '/pipelines', { name: 'App', stages: ['Build', 'Live'] });
  const release = await ok('POST', '/releases', { name: 'Spring', tag: '1.0.0', pipelineId: pipeline.id });
  const one = await issue();
  const idsOf = async (): Promise<string[]> => (await ok('GET', `/releases/${release.id}`)).issueIds;
  expect(await typesOfTwo([{ type: 'release', release: 'Spring' }], one)).toEqual([['release.updated'], []]);
  expect(await idsOf()).toEqual([one.id]);
  expect(await typesOfTwo([{ type: 'release', release: null }], one)).toEqual([['release.updated'], []]);
  expect(await idsOf()).toEqual([]);
  expect(await errorOf([{ type: 'release', release: 'Winter' }])).toContain(
    'There is no unpublished release "Winter".',
  );
});

test('an action of another plugin is refused with its number', async () => {
  expect(await errorOf([{ type: 'plugin', plugin: 'acme', action: 'go' }])).toMatch(
    /Action 1 \(plugin\) on ENG-\d+: Only automations call actions of other plugins/,
  );
});
