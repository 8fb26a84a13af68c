// Events of every type can be filtered by the fields of their data. `notFiltered` lists the exceptions
// (docs/spec/api.md › Filters).
import { beforeEach, expect, test } from 'bun:test';
import type { TObject } from 'typebox';
import { parseFilter, type FilterField, type FilterFields } from '../../core/platform/lib/filter/filter.ts';
import { createSearched, passesOf } from '../../core/platform/lib/filter/filter-match.ts';
import { filterFieldsOf, sentEvents } from '../../core/app/event-schemas.ts';
import { fieldsOfEvents } from '../../dashboard/parts/filter/event-fields.ts';
import {
  filterOf,
  newChip,
  testsOf,
  type Chip,
  type ChipField,
} from '../../dashboard/parts/filter/filter.ts';
import { EVENT_TYPES } from '../../sdk/generated/events.ts';
import type { Json, Reply } from '../app.ts';
import { install, packSource } from './plugins/pack.ts';
import { hooksOfFile } from './webhooks/receiver.ts';

const { hooks, receiver } = await hooksOfFile();
beforeEach(() => void receiver.received.splice(0));

const hookOn = (events: readonly string[], filter: object, headers = {}): Promise<Reply> =>
  hooks.call('POST', '/api/v1/webhooks', { url: receiver.url, events, filter }, headers);
const simulated = { 'tatami-mode': 'simulate' };

async function must(method: string, path: string, body?: object): Promise<Json> {
  const { status, json, text } = await hooks.call(method, `/api/v1${path}`, body);
  expect([method, path, status < 300, text]).toEqual([method, path, true, text]);
  return json;
}

/** Returns the values at a path of an object, one for each element of a list. */
function valuesAt(data: Json, path: string): Json[] {
  return path.split('.').reduce<Json[]>(
    (all, step) => {
      const name = step.replace('[]', '');
      return all.flatMap((value) => value?.[name] ?? []);
    },
    [data],
  );
}

/** Returns an operand that the sample matches; undefined if the sample lacks the field. */
function operandOf(field: FilterField, data: Json): unknown {
  if (field.type !== 'reference') return valuesAt(data, field.path)[0];
  const [{ path, upTo }] = field.ways as [(typeof field.ways)[0]];
  const [value] = valuesAt(data, path);
  return upTo === undefined ? value : value?.split(upTo)[0];
}

const passes = (filter: object, fields: FilterFields, data: Json): boolean =>
  passesOf(parseFilter(filter, fields), fields)(data, createSearched(), 0);

/** Fields that filters cannot name: under `all` those of every event, and below those of each type. */
const notFiltered: Readonly<Record<string, readonly string[]>> = {
  // `version` only counts changes, the event type already identifies a deletion, and URLs of pages follow from the id.
  all: ['version', 'deletedAt', 'previous', 'url', 'pageUrl'],
  // These fields have other names (`label`, `fields.<key>`), or belong to the event and not to the issue.
  issue: ['labels', 'fields', 'subOrder', 'relation', 'attachment'],
  // These values have no common shape, or consist of several parts.
  board: ['filter', 'columns'],
  field: ['options'],
  calendar: ['hours'],
  sla_policy: ['filter'],
  team: ['transitions', 'cycles'],
  template: ['fields'],
  workspace: ['publicTriage'],
  inbox: ['target'],
  webhook: ['filter'],
  // Settings can contain private values.
  plugin: [
    ...['scopes', 'filters', 'schedules', 'settings', 'net', 'secrets'],
    ...['modes', 'pending', 'probation', 'budget'],
  ],
  // The parts of a rule have no common shape.
  automation: [
    ...['effects', 'events', 'undo', 'through', 'trigger', 'conditions', 'issues', 'actions', 'stepDown'],
    ...['probation', 'scopes', 'backtest'],
  ],
  // Personal views emit no events.
  view: ['name', 'description', 'filter', 'sort', 'layout', 'groupBy'],
  // The field changes without an event.
  api_key: ['lastUsedAt'],
  member: ['joinedAt'],
  // Always null in events, because others than the member may not see the object.
  preferences: ['title', 'identifier'],
  // The name of an app from elsewhere is its own claim.
  grant: ['client', 'lastUsedAt'],
};

test('every event type accepts filters, delivers matching events and drops the others', async () => {
  expect(
    sentEvents()
      .map(({ type }) => type as string)
      .toSorted(),
  ).toEqual([...EVENT_TYPES].toSorted());
  for (const type of EVENT_TYPES) {
    const { data } = (await must('POST', '/events/samples', { type })).event;
    const fields = filterFieldsOf(type);
    const tried: string[] = [];
    for (const [name, field] of Object.entries(fields)) {
      const value = operandOf(field, data);
      if (value === undefined) continue;
      tried.push(name);
      const { [field.path.split(/\.|\[\]/)[0]!]: _, ...without } = data;
      const of = { type, name, value };
      expect([of, passes({ [name]: value }, fields, data)]).toEqual([of, true]);
      expect([of, passes({ [name]: { neq: value } }, fields, data)]).toEqual([of, false]);
      expect([of, passes({ [name]: value }, fields, without)]).toEqual([of, false]);
    }
    const plain = tried.find((name) => fields[name]!.type !== 'reference')!;
    const taken = await hookOn([type], { [plain]: operandOf(fields[plain]!, data) }, simulated);
    expect([type, tried.length > 2, taken.status]).toEqual([type, true, 201]);
  }
});

test('every event field that filters cannot name is listed', async () => {
  const unused = new Set(
    Object.entries(notFiltered).flatMap(([of, names]) => names.map((name) => `${of}.${name}`)),
  );
  for (const { type, envelope } of sentEvents()) {
    const [namespace = ''] = type.split('.');
    const { data } = (envelope as TObject).properties as { data: TObject };
    const roots = Object.values(filterFieldsOf(type)).map(({ path }) => path.split(/\.|\[\]/)[0]!);
    const missing = Object.keys(data.properties).filter(
      (name) => !roots.includes(name) && !name.endsWith('Html'),
    );
    const known = (name: string): boolean => {
      const of = notFiltered['all']!.includes(name) ? 'all' : namespace;
      unused.delete(`${of}.${name}`);
      return notFiltered[of]?.includes(name) ?? false;
    };
    expect([type, missing.filter((name) => !known(name))]).toEqual([type, []]);
    const [one] = missing.filter((name) => name in data.properties && !['labels', 'fields'].includes(name));
    if (one === undefined) continue;
    const { status, json } = await hookOn([type], { [one]: 'x' }, simulated);
    expect([type, status, json.error.details[0]]).toMatchObject([
      type,
      422,
      { path: `filter.${one}`, issue: 'unknown_field' },
    ]);
    expect(json.error.details[0].fix).toContain(`${type} events have no field ${one}.`);
  }
  // `relation` is a filter of issues under another name.
  expect([...unused].toSorted()).toEqual(['issue.labels']);
});

test('events accept every condition that a person can choose for them in the web app', async () => {
  const first = async (path: string): Promise<Json> => (await must('GET', `${path}?limit=1`)).data[0];
  const member = await first('/members');
  const values: Readonly<Record<ChipField, string>> = {
    state: (await first('/workflows')).id,
    assignee: member.id,
    priority: 'high',
    label: (await must('POST', '/labels', { name: 'Of the chip' })).id,
    team: 'ENG',
    project: (await must('POST', '/projects', { name: 'Of the chip' })).id,
    cycle: 'none',
    creator: member.id,
    title: 'crash',
    dueDate: '2027-01-01',
    createdAt: '2027-01-01',
    updatedAt: '2027-01-01',
    estimate: '3',
  };
  const chipsOf = (field: ChipField): Chip[] =>
    testsOf(field).map((test) => ({
      ...newChip(field),
      test,
      values: test === 'none' ? [] : [values[field]],
    }));
  for (const type of EVENT_TYPES) {
    const fields = fieldsOfEvents([type]);
    if (fields.length === 0) continue;
    const { status, text } = await hookOn([type], filterOf(fields.flatMap(chipsOf))!, simulated);
    expect([type, status, text]).toEqual([type, 201, text]);
  }
  expect(fieldsOfEvents(EVENT_TYPES.filter((type) => type.startsWith('issue.')))).toContain('state');
  // Types of states are choices, too.
  expect((await hookOn(['issue.*'], { state: ['started'] }, simulated)).status).toBe(201);
});

/** Returns the events that a filtered webhook receives, in order. */
async function delivered(filter: object, events: string[], done: () => Promise<unknown>): Promise<Json[]> {
  const { status, json, text } = await hookOn(events, filter);
  expect([filter, status, text]).toEqual([filter, 201, text]);
  receiver.received.length = 0;
  await done();
  await hooks.app.settled();
  await must('DELETE', `/webhooks/${json.id}`);
  return receiver.received.map(({ event }) => event);
}

test('a webhook receives the comments that match its filter on team, issue, author or words', async () => {
  await must('POST', '/teams', { key: 'OPS', name: 'Operations' });
  const eng = await hooks.file('Brakes squeak');
  const ops = await hooks.file('Disk is full', { team: 'OPS' });
  const say = (issue: Json, body: string) => must('POST', `/issues/${issue.id}/comments`, { body });
  const both = async () => {
    await say(eng, 'They squeak again.');
    await say(ops, 'It filled up overnight: LGTM, delete it.');
  };
  const [{ actor }] = (await must('GET', '/events?types=issue.created')).data;
  const member = (await must('GET', '/members')).data.find(
    ({ id }: Json) => id === (actor.memberId ?? actor.id),
  );
  for (const [filter, bodies] of [
    [{ team: 'ops' }, ['It filled']],
    [{ team: { startsWith: 'E' } }, ['They']],
    [{ team: { nin: ['ENG'] } }, ['It filled']],
    [{ issue: eng.identifier.toLowerCase() }, ['They']],
    [{ issue: ops.id }, ['It filled']],
    [{ body: { contains: 'lgtm' } }, ['It filled']],
    [{ author: member.id, body: { startsWith: 'They' } }, ['They']],
    [{ parentId: { null: false } }, []],
    [{ mentions: 'none', resolvedAt: null }, ['They', 'It filled']],
  ] as const) {
    const events = await delivered(filter, ['comment.added'], both);
    const matched = events.map(
      ({ data }) => bodies.find((begin) => data.body.startsWith(begin)) ?? data.body,
    );
    expect([filter, matched.toSorted()]).toEqual([filter, bodies.toSorted()]);
  }
  // A resolved comment is matched by its state after the change.
  const thread = await say(eng, 'Who looks at it?');
  const resolve = () => must('POST', `/comments/${thread.id}/resolve`);
  const [resolved] = await delivered({ resolvedAt: { null: false } }, ['comment.resolved'], resolve);
  expect(resolved).toMatchObject({
    type: 'comment.resolved',
    data: { id: thread.id, previous: { resolvedAt: null } },
  });
  // Subscriber events count as issue events and have the team of the issue.
  const follow = async () => {
    for (const { id } of [eng, ops]) await must('PUT', `/subscribers/${id}/${member.id}`);
    for (const { id } of [eng, ops]) await must('DELETE', `/subscribers/${id}/${member.id}`);
  };
  const followed = await delivered({ team: 'OPS' }, ['issue.*'], follow);
  expect(followed.map(({ data }) => data.issue.identifier)).not.toContain(eng.identifier);
  expect(followed.map(({ type }) => type)).toContain('issue.unsubscribed');
});

test('webhooks filter label, member, key and plugin events by the fields in their data', async () => {
  const labels = async () => {
    for (const name of ['Slow', 'Fast']) await must('POST', '/labels', { name });
    await must('POST', '/labels', { name: 'Paged', team: 'ENG' });
  };
  const byName = await delivered({ or: [{ name: 'Slow' }, { team: 'ENG' }] }, ['label.*'], labels);
  expect(byName.map(({ data }) => data.name).toSorted()).toEqual(['Paged', 'Slow']);

  const members = async () => {
    const { id } = await must('POST', '/members', { name: 'Cy', email: 'cy@acme.example', role: 'guest' });
    await must('PATCH', `/members/${id}`, { role: 'admin' });
  };
  const above = await delivered(
    { role: { gte: 'admin' }, email: { contains: '@acme' } },
    ['member.*'],
    members,
  );
  expect(above.map(({ type }) => type)).toEqual(['member.updated']);

  const keys = async () => {
    for (const scopes of [['issues:read'], ['issues:read', 'labels:write']])
      await must('POST', '/api-keys', { name: 'Script', scopes });
  };
  const writing = await delivered({ scopes: { contains: ':write' } }, ['api_key.created'], keys);
  expect(writing.map(({ data }) => data.scopes)).toEqual([['issues:read', 'labels:write']]);

  const scopes = "'labels:read': { why: 'test' }";
  const quiet = await packSource(
    `{ id: 'com.test.quiet', version: '1.0.0', engines: { tatami: '*' }, scopes: { ${scopes} }, on: { 'label.created': { handle() {} } } }`,
  );
  const plugins = async () => {
    await install(hooks.call, quiet);
    await must('PATCH', '/plugins/com.test.quiet', { state: 'paused_by_admin' });
  };
  const off = await delivered(
    { pluginId: { startsWith: 'com.test' }, state: { neq: 'active' } },
    ['plugin.*'],
    plugins,
  );
  expect([...new Set(off.map(({ data }) => data.state))]).toEqual(['paused_by_admin']);
  // Filters must not reveal masked values by guesses.
  const hidden = 'https://127.0.0.1/hooks?token=mauve';
  const register = () => must('POST', '/webhooks', { url: hidden, events: ['label.created'] });
  for (const [url, count] of [
    [{ contains: 'mauve' }, 0],
    [{ contains: 'token=' }, 1],
  ] as const)
    expect([url, (await delivered({ url }, ['webhook.created'], register)).length]).toEqual([url, count]);
});

test('a plugin runs only for the comments that match its filter', async () => {
  const source = (filter: string) => `{ id: 'com.test.shipit', version: '1.0.0', engines: { tatami: '*' },
    scopes: { 'comments:read': { why: 'test' } },
    on: { 'comment.added': { filter: ${filter}, handle({ data }, ctx) { ctx.log.info(data.body); } } } }`;
  await install(hooks.call, await packSource(source(`{ body: { contains: 'ship it' }, team: 'ENG' }`)));
  const { id } = await hooks.file('Release 2.5');
  for (const body of ['Not yet.', 'Ship it!', 'Really?'])
    await must('POST', `/issues/${id}/comments`, { body });
  await hooks.app.settled();
  const { data: runs } = await must('GET', '/plugins/com.test.shipit/runs');
  expect(runs.map(({ status }: Json) => status)).toEqual(['succeeded']);
  const { logs } = await must('GET', `/runs/${runs[0].id}`);
  expect(logs.map(({ message }: Json) => message)).toEqual(['Ship it!']);
});

test('a filter names only existing fields that every subscribed type has', async () => {
  const { status, json } = await hookOn(['board.*'], { limits: 'hard' });
  expect([status, json.error.details[0]]).toMatchObject([
    422,
    { path: 'filter.limits', issue: 'unknown_field' },
  ]);
  expect(json.error.details[0].fix).toContain('board.card_moved events have no field limits.');
  for (const [type, filter, detail] of [
    ['comment.added', { team: 'NOPE' }, 'filter.team not_found'],
    ['comment.added', { issue: 'ENG-99999' }, 'filter.issue not_found'],
    ['comment.added', { issue: 'NOPE-1' }, 'filter.issue not_found'],
    ['comment.added', { author: 'me' }, 'filter.author invalid_format'],
    ['comment.added', { parentId: 'first' }, 'filter.parentId invalid_format'],
    ['comment.added', { mentions: 'Nobody' }, 'filter.mentions not_found'],
    ['member.updated', { role: 'boss' }, 'filter.role invalid_enum'],
    ['plugin.updated', { settings: { token: 'x' } }, 'filter.settings unknown_field'],
    ['webhook.updated', { secret: { startsWith: 'whsec_a' } }, 'filter.secret unknown_field'],
    ['api_key.created', { key: { startsWith: 'ttm_' } }, 'filter.key unknown_field'],
    ['template.created', { labels: 'nothing' }, 'filter.labels not_found'],
    ['sla_policy.updated', { targetMinutes: 0 }, 'filter.targetMinutes too_small'],
    ['calendar.updated', { holidays: '2027-02-30' }, 'filter.holidays invalid_format'],
    ['inbox.preferences_updated', { member: 'Nobody' }, 'filter.member not_found'],
    ['system.problem_raised', { kind: 'fire' }, 'filter.kind invalid_enum'],
  ] as const) {
    const { status, json } = await hookOn([type], filter);
    const [{ path, issue }] = json.error.details;
    expect([type, filter, status, `${path} ${issue}`]).toEqual([type, filter, 422, detail]);
  }
});
