import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { seededRandom } from '../../faults/server.ts';

const v1 = '/api/v1';
const seed = Number(process.env.TATAMI_SEED ?? 20_261_122);
const steps = process.env.TATAMI_LONG ? 240 : 60;

/** A seeded random number generator. */
function randomOf(seed: number) {
  const next = seededRandom(seed);
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    chance: (): boolean => next() < 0.5,
    pick: <T>(from: readonly T[]): T => from[below(from.length)]!,
  };
}

const reads = [
  '/issues?limit=100',
  '/issues?limit=100&sort=-priority,title',
  '/issues?limit=100&sort=updatedAt',
  '/issues?limit=100&sort=state,-assignee',
  '/issues?limit=100&sort=assignee,-state&deleted=include',
  '/issues?limit=100&sort=-completedAt,startedAt',
  '/issues?limit=100&filter={"or":[{"label":"bug"},{"state":"started"}]}',
  '/issues?limit=100&filter={"not":{"assignee":"none"}}&sort=dueDate',
  '/issues?limit=100&deleted=include&sort=title',
  '/issues?limit=100&filter={"updatedAt":{"gte":"-PT20M"}}',
  '/issues?limit=100&fields=title,parent,project,labels',
  '/issues?limit=100&sort=slaDueAt,-subOrder',
  '/issues?limit=100&sort=fields.size,-fields.points',
  '/issues?limit=100&filter={"fields.points":{"gt":3}}',
  '/projects?limit=100',
  '/projects?limit=100&status=started',
  '/boards?limit=100',
];

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const get = async (path: string): Promise<Json> => {
  const { status, json } = await app.call('GET', `${v1}${path}`);
  return { status, json };
};
/** Drops the cursors, which belong to each list. */
const bare = ({ status, json }: Json): Json => {
  if (status !== 200) return { status };
  const { asOf: _, ...rest } = json;
  if (rest.columns)
    return JSON.parse(JSON.stringify(rest, (key, value) => (key === 'endCursor' ? null : value)));
  return rest.pageInfo ? { data: rest.data, hasNextPage: rest.pageInfo.hasNextPage } : rest;
};

interface MomentSnapshot {
  readonly sequence: number;
  readonly atMs: number;
  readonly answers: ReadonlyMap<string, Json>;
}

/** Moves a card on a board that may not contain it. */
async function moveSomewhere(random: ReturnType<typeof randomOf>, board: string, issueId: string) {
  const path = `${v1}/boards/${board}`;
  const { columns = [] } = (await app.call('GET', `${path}/cards?perColumn=2`)).json;
  if (columns.length === 0) return;
  const to = { column: random.pick<Json>(columns).key, position: random.pick(['top', 'bottom']) };
  await app.call('POST', `${path}/move`, { issueId, ...to });
}

/** Boards of each grouping. */
const boards = [
  { team: 'ENG' },
  { groupBy: 'label', swimlanes: 'fields.size' },
  { groupBy: 'assignee', swimlanes: 'stateType', filter: { not: { priority: 'urgent' } } },
  { groupBy: 'priority', sort: '-updatedAt', columns: [{ value: 'urgent', hidden: true }, { value: 'low' }] },
];

/** Sends a random request, which may fail. */
async function something(
  random: ReturnType<typeof randomOf>,
  created: Record<string, string[]>,
): Promise<void> {
  const { pick, chance } = random;
  const call = async (method: string, path: string, body?: object): Promise<Json> =>
    (await app.call(method, `${v1}${path}`, body)).json;
  const one = (type: string): string => pick(created[type]!);
  const states = (await call('GET', '/workflows?team=ENG')).data;
  const steps: (() => Promise<unknown>)[] = [
    async () => {
      const body = {
        team: 'ENG',
        title: `${pick(['Ä', 'z', '𝒳', 'ｚ'])} ${random.below(1000)}`,
        labels: chance() ? ['bug'] : [],
      };
      const parent = chance() && created.issue!.length > 0 ? { parentId: one('issue') } : {};
      created.issue!.push((await call('POST', '/issues', { ...body, ...parent })).id);
    },
    () => call('PATCH', `/issues/${one('issue')}`, { priority: pick(['none', 'low', 'high', 'urgent']) }),
    () => call('PATCH', `/issues/${one('issue')}`, { stateId: pick<Json>(states).id }),
    () => call('PATCH', `/issues/${one('issue')}`, { assigneeId: chance() ? one('member') : null }),
    () =>
      call('PATCH', `/issues/${one('issue')}`, {
        projectId: one('project'),
        dueDate: `2027-01-1${random.below(9)}`,
      }),
    () =>
      call('PATCH', `/issues/${one('issue')}`, {
        labels: chance() ? ['bug', 'feature'] : [],
        title: `Title ${random.below(99)}`,
      }),
    () => call('DELETE', `/issues/${one('issue')}`),
    () => call('POST', `/issues/${one('issue')}/restore`),
    () => call('POST', `/issues/${one('issue')}/comments`, { body: 'Said.' }),
    () => call('PATCH', `/workflows/${pick<Json>(states).id}`, { name: `State ${random.below(1000)}` }),
    () => call('PATCH', `/workflows/${pick<Json>(states).id}`, { position: random.below(12) }),
    () => call('PATCH', `/members/${one('member')}`, { name: `Member ${random.below(1000)}` }),
    () => call('PATCH', `/labels/${one('label')}`, { name: pick(['bug', 'defect', 'fault']) }),
    () =>
      call('PATCH', `/projects/${one('project')}`, {
        name: `Project ${random.below(99)}`,
        status: pick(['started', 'planned']),
      }),
    async () =>
      created.project!.push(
        (await call('POST', '/projects', { name: `Project ${random.below(99)}`, leadId: one('member') })).id,
      ),
    ...[1, 2, 3].map(() => () => moveSomewhere(random, one('board'), one('issue'))),
    () =>
      call('PATCH', `/boards/${created.board![0]}`, {
        sort: pick(['manual', 'manual', '-priority', 'title']),
        filter: pick([{}, { label: 'bug' }, { title: { startsWith: 'Title' } }]),
      }),
    async () => chance() && (await call('DELETE', `/labels/${one('label')}`)),
    async () => created.label!.push((await call('POST', '/labels', { name: pick(['bug', 'late']) })).id),
    async () => chance() && (await call('POST', `/issues/${one('issue')}/purge`)),
    () =>
      call('PATCH', `/issues/${one('issue')}`, {
        fields: { size: pick(['s', 'l', null]), points: random.below(9) },
      }),
    ...['delete', 'restore', 'restore'].map((action) => () => {
      const path = `/fields/${one('field')}`;
      return action === 'delete' ? call('DELETE', path) : call('POST', `${path}/restore`);
    }),
  ];
  await pick(steps)();
  await app.settled();
  app.clock.advance(60_000);
  await app.settled();
}

test('at every time, issues, lists, projects and boards equal their state read at that time', async () => {
  const random = randomOf(seed);
  const label = (await get('/labels')).json.data[0];
  const created: Record<string, string[]> = { issue: [], member: [], project: [], label: [label.id] };
  const post = async (path: string, body: object): Promise<Json> =>
    (await app.call('POST', `${v1}${path}`, body)).json;
  for (const name of ['Ana', 'Ben']) created.member!.push((await post('/members', { name })).id);
  created.project!.push((await post('/projects', { name: 'First' })).id);
  await post('/sla-policies', {
    ...{ name: 'Urgent', kind: 'resolution', targetMinutes: 60 },
    filter: { priority: ['urgent', 'high'] },
  });
  const filter = { or: [{ label: 'bug' }, { priority: 'high' }] };
  created.view = [(await post('/views', { name: 'Bugs', filter, sort: 'title' })).id];
  created.field = [];
  const field = async (body: object) => created.field!.push((await post('/fields', body)).id);
  await field({
    key: 'size',
    name: 'Size',
    type: 'select',
    options: [
      { value: 's', name: 'S' },
      { value: 'l', name: 'L' },
    ],
  });
  await field({ key: 'points', name: 'Points', type: 'number' });
  created.board = [];
  for (const board of boards) created.board.push((await post('/boards', { name: 'Board', ...board })).id);
  for (let n = 0; n < 3; n++)
    created.issue!.push((await post('/issues', { team: 'ENG', title: `Issue ${n}` })).id);

  const moments: MomentSnapshot[] = [];
  for (let step = 0; step < steps; step++) {
    await something(random, created);
    const answers = new Map<string, Json>();
    const board = random.pick(created.board!);
    const ones = [
      `/issues/${random.pick(created.issue!)}`,
      `/projects/${random.pick(created.project!)}`,
      `/views/${created.view[0]}/issues?limit=100&priority=high`,
      ...[`/boards/${board}`, `/boards/${board}/cards?perColumn=${random.pick([2, 50])}`],
    ];
    for (const path of [...ones, ...(step % 4 === 0 ? reads : [])]) answers.set(path, bare(await get(path)));
    moments.push({ sequence: await sequenceNow(), atMs: app.clock.nowMs(), answers });
    app.clock.advance(1_000);
  }
  for (const { sequence, atMs, answers } of moments)
    for (const [path, then] of answers) {
      const and = path.includes('?') ? '&' : '?';
      // A list relative to the present is relative to the time of its event.
      const asOf = path.includes('-PT') || random.chance() ? new Date(atMs).toISOString() : String(sequence);
      const answer = await get(`${path}${and}asOf=${asOf}`);
      expect({ seed, path, asOf, answer: bare(answer) }).toEqual({ seed, path, asOf, answer: then });
      if (answer.status === 200) expect(answer.json.asOf.sequence).toBe(sequence);
    }
}, 60_000);

const sequenceNow = async (): Promise<number> => {
  const { json } = await app.call('GET', `${v1}/audit-log?limit=1`);
  return json.data[0].sequence ?? (await app.lastSequence());
};

test('pages of a past list continue correctly while issues change', async () => {
  const sequence = await app.lastSequence();
  const whole = (await get('/issues?limit=100&sort=title&deleted=include')).json.data;
  const collected: Json[] = [];
  for (let after = ''; ;) {
    const { json } = await get(`/issues?limit=3&sort=title&deleted=include&asOf=${sequence}${after}`);
    collected.push(...json.data);
    await app.call('PATCH', `${v1}/issues/${whole[collected.length % whole.length].id}`, {
      title: `Moved ${collected.length}`,
    });
    if (!json.pageInfo.hasNextPage) break;
    after = `&after=${json.pageInfo.endCursor}`;
  }
  expect(collected).toEqual(whole);
});

test('pages of a past view continue correctly', async () => {
  for (let n = 0; n < 4; n++) await app.call('POST', `${v1}/issues`, { team: 'ENG', title: `Paged ${n}` });
  const { json: view } = await app.call('POST', `${v1}/views`, { name: 'All', filter: {}, sort: 'title' });
  const sequence = await app.lastSequence();
  const list = `/views/${view.id}/issues`;
  const whole = (await get(`${list}?limit=100`)).json.data;
  const first = (await get(`${list}?limit=2&asOf=${sequence}`)).json;
  await app.call('PATCH', `${v1}/issues/${whole[3].id}`, { title: 'Elsewhere' });
  const { endCursor } = first.pageInfo;
  const second = (await get(`${list}?limit=2&asOf=${sequence}&after=${endCursor}`)).json;
  expect([...first.data, ...second.data]).toEqual(whole.slice(0, 4));
  expect(second.asOf.sequence).toBe(sequence);
  expect((await get(`/issues?sort=title&limit=2&asOf=${sequence}&after=${endCursor}`)).json.error.code).toBe(
    'invalid_cursor',
  );
});

test('an invalid or future time is rejected with an instruction', async () => {
  for (const [asOf, fix] of [
    ['999999', 'or less'],
    ['2040-01-01T00:00:00Z', 'Give an earlier time'],
    ['yesterday', 'Give a sequence'],
    ['-1', 'Give a sequence'],
  ])
    for (const path of ['/issues', '/issues/ENG-1', '/projects']) {
      const { status, json } = await get(`${path}?asOf=${asOf}`);
      expect([path, asOf, status, json.error?.details[0].path]).toEqual([path, asOf, 422, 'asOf']);
      expect(json.error.details[0].fix).toContain(fix);
    }
  const before = await get('/issues?asOf=0');
  expect([before.json.data, before.json.asOf.sequence]).toEqual([[], 0]);
  expect((await get('/issues/ENG-1?asOf=0')).status).toBe(404);
});

test('a column of a past board is paged to its end while cards move', async () => {
  const post = async (path: string, body: object): Promise<Json> =>
    (await app.call('POST', `${v1}${path}`, body)).json;
  const { id } = await post('/boards', { name: 'Paged', groupBy: 'priority', filter: { title: 'Paged' } });
  for (let n = 0; n < 5; n++) {
    app.clock.advance(1_000);
    await post('/issues', { team: 'ENG', title: 'Paged', priority: 'low' });
  }
  const cards = async (query: string): Promise<Json> =>
    (await get(`/boards/${id}/columns/low/cards?limit=2${query}`)).json;
  const { columns } = (await get(`/boards/${id}/cards`)).json;
  const whole: Json[] = columns.find(({ key }: Json) => key === 'low').cards;
  const sequence = await app.lastSequence();
  const collected: Json[] = [];
  for (let after = ''; ;) {
    const { data, pageInfo, asOf } = await cards(`&asOf=${sequence}${after}`);
    expect(asOf.sequence).toBe(sequence);
    collected.push(...data);
    await post(`/boards/${id}/move`, { issueId: whole.at(-1).id, column: 'low', position: 'top' });
    await post(`/boards/${id}/move`, { issueId: whole[2].id, column: 'high' });
    if (!pageInfo.hasNextPage) break;
    after = `&after=${pageInfo.endCursor}`;
  }
  expect(collected).toEqual(whole);
  await app.call('DELETE', `${v1}/boards/${id}`);
  expect((await get(`/boards/${id}/cards`)).status).toBe(404);
  expect((await get(`/boards/${id}/cards?asOf=${sequence}`)).json.columns).toHaveLength(columns.length);
});

test('current, next and previous name the cycles of that time', async () => {
  const hourMs = 3_600_000;
  const at = (hours: number): string => new Date(app.clock.now() + hours * hourMs).toISOString();
  for (const from of [1, 10, 20]) {
    const { json } = await app.call('POST', `${v1}/cycles`, {
      ...{ team: 'ENG', startsAt: at(from), endsAt: at(from + 9) },
    });
    await app.call('POST', `${v1}/issues`, { team: 'ENG', title: `From ${from}`, cycleId: json.id });
  }
  const paths = ['current', 'next', 'previous'].map(
    (word) => `/issues?fields=title&filter={"cycle":"${word}"}`,
  );
  const seen: [sequence: number, path: string, then: Json][] = [];
  for (let hour = 0; hour < 30; hour += 5) {
    const sequence = await app.lastSequence();
    for (const path of paths) seen.push([sequence, path, bare(await get(path))]);
    app.clock.advance(5 * hourMs);
    await app.settled();
  }
  expect(seen.filter(([, , { data }]) => data.length > 0).length).toBeGreaterThan(6);
  for (const [sequence, path, then] of seen)
    expect({ path, was: bare(await get(`${path}&asOf=${sequence}`)) }).toEqual({ path, was: then });
});

test('past issues show the values of a field that was deleted and restored, and of another with its key in between', async () => {
  const call = async (method: string, path: string, body?: object): Promise<Json> => {
    const { status, json, text } = await app.call(method, v1 + path, body);
    expect([path, status < 300, text]).toEqual([path, true, text]);
    return json;
  };
  const field = (key: string): Promise<Json> => call('POST', '/fields', { key, name: key, type: 'text' });
  const first = await field('colour');
  const make = (fields: object): Promise<Json> =>
    call('POST', '/issues', { team: 'ENG', title: 'Fields', fields });
  const [busy, quiet] = [await make({ colour: 'red' }), await make({ colour: 'blue' })];
  let second: Json;
  let touches = 0;
  const touch = (): Promise<Json> => call('PATCH', `/issues/${busy.id}`, { title: `Fields ${++touches}` });
  const steps: (() => Promise<unknown>)[] = [
    touch,
    () => call('DELETE', `/fields/${first.id}`),
    touch,
    async () => (second = await field('colour')),
    () => call('PATCH', `/issues/${busy.id}`, { fields: { colour: 'green' } }),
    () => call('DELETE', `/fields/${second.id}`),
    touch,
    () => call('POST', `/fields/${first.id}/restore`),
    () => call('PATCH', `/fields/${first.id}`, { name: 'Colour' }),
    touch,
    () => call('DELETE', `/fields/${first.id}`),
    () => call('POST', `/fields/${second.id}/restore`),
    touch,
    () => call('PATCH', `/issues/${busy.id}`, { fields: { colour: null } }),
  ];
  const paths = [
    ...[`/issues/${busy.id}`, `/issues/${quiet.id}`],
    ...['/issues?limit=100&filter={"title":{"startsWith":"Fields"}}', '/issues?limit=100&sort=createdAt'],
  ];
  const seen: { sequence: number; path: string; now: Json }[] = [];
  for (const step of steps) {
    await step();
    const sequence = await app.lastSequence();
    for (const path of paths) seen.push({ sequence, path, now: bare(await get(path)) });
  }
  const colours = seen.flatMap(({ path, now }) => (path === paths[0] ? [now.fields.colour ?? null] : []));
  const [red, green] = ['red', 'green'];
  expect(colours).toEqual([
    ...[red, null, null, null, green, null, null, red, red, red, null, green, green, null],
  ]);
  for (const { sequence, path, now } of seen)
    expect({
      path,
      sequence,
      was: bare(await get(`${path}${path.includes('?') ? '&' : '?'}asOf=${sequence}`)),
    }).toEqual({
      ...{ path, sequence },
      was: now,
    });
});
