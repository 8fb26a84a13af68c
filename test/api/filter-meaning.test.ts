// List filters, list parameters, webhook filters and plugin subscriptions accept, refuse and match the same values.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rightsOf } from '../../core/kernel/rights/rights.ts';
import type { PluginPackage } from '../../sdk/plugin/manifest.ts';
import type { Json, Reply } from '../app.ts';
import { packSource } from '../features/plugins/pack.ts';
import { askAs } from '../rights/asking.ts';
import { startHooks, startReceiver, type Hooks, type Receiver } from '../features/webhooks/receiver.ts';

const day = 86_400_000;
let hooks: Hooks;
let receiver: Receiver;
let base: PluginPackage;
let mine: Json;
let others: Json;

beforeAll(async () => {
  receiver = startReceiver();
  hooks = await startHooks();
  base = await packSource(
    `{ id: 'com.test.hears', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } }, on: { 'issue.created': { handle() {} } } }`,
  );
  await hooks.call('POST', '/api/v1/labels', { name: 'Ärger' });
  const ana = (await hooks.call('POST', '/api/v1/members', { name: 'Ana' })).json.id;
  const project = (await hooks.call('POST', '/api/v1/projects', { name: 'Spring Release' })).json.id;
  const { userId } = hooks.app.workspace;
  mine = await hooks.file('mine', {
    assigneeId: userId,
    labels: ['bug', 'ärger'],
    estimate: 3,
    dueDate: '2026-11-21',
  });
  others = await hooks.file('others', { assigneeId: ana, projectId: project, parentId: mine.id });
});
afterAll(async () => {
  await hooks.app.stop();
  await receiver.stop();
});

const query = (filter: object): string =>
  `/api/v1/issues?filter=${encodeURIComponent(JSON.stringify(filter))}`;
const titlesOf = ({ json }: Reply): string[] => json.data.map(({ title }: Json) => title).toSorted();
const detailOf = ({ json }: Reply): string => {
  const [{ path, issue }] = json.error.details;
  return `${path} ${issue}`;
};
const simulated = { 'tatami-mode': 'simulate' };
const subscribing = (filter: object, more: object = {}) =>
  hooks.call(
    'POST',
    '/api/v1/webhooks',
    { url: receiver.url, events: ['issue.*'], filter, ...more },
    simulated,
  );
const installing = (manifest: object) =>
  hooks.call(
    'POST',
    '/api/v1/plugins',
    { package: { ...base, manifest: { ...base.manifest, ...manifest } }, grant: ['issues:read'] },
    simulated,
  );
const hearing = (filter: object) => installing({ on: { 'issue.created': { filter } } });

test('a parameter and the filter of the same name have the same meaning, in any case, by id and by name', async () => {
  const { teamId, userId } = hooks.app.workspace;
  const states: Json[] = (await hooks.call('GET', '/api/v1/workflows?team=ENG')).json.data;
  const backlog = states.find(({ type }) => type === 'backlog')!;
  for (const [name, value, titles] of [
    ['team', 'eng', ['mine', 'others']],
    ['team', teamId, ['mine', 'others']],
    ['assignee', 'me', ['mine']],
    ['assignee', userId, ['mine']],
    ['assignee', 'ANA', ['others']],
    ['assignee', 'none', []],
    ['label', 'BUG', ['mine']],
    ['label', 'ÄRGER', ['mine']],
    ['label', 'none', ['others']],
    ['state', 'backlog', ['mine', 'others']],
    ['state', backlog.name, ['mine', 'others']],
    ['state', backlog.id, ['mine', 'others']],
    ['state', 'In progress', []],
    ['priority', 'none', ['mine', 'others']],
  ] as const) {
    expect([name, value, titlesOf(await hooks.call('GET', `/api/v1/issues?${name}=${value}`))]).toEqual([
      name,
      value,
      [...titles],
    ]);
    expect([name, value, titlesOf(await hooks.call('GET', query({ [name]: value })))]).toEqual([
      name,
      value,
      [...titles],
    ]);
  }
  for (const [filter, titles] of [
    [{ identifier: mine.identifier.toLowerCase() }, ['mine']],
    [{ identifier: { in: [mine.identifier, others.identifier] } }, ['mine', 'others']],
    [{ parent: mine.identifier }, ['others']],
    [{ parent: mine.id }, ['others']],
    [{ project: 'spring release' }, ['others']],
    [{ creator: 'me', project: null }, ['mine']],
    [{ not: { label: 'bug' } }, ['others']],
    [{ dueDate: { gte: 'P0D', lte: 'P1D' } }, ['mine']],
    [{ dueDate: { lt: '-P7D' } }, []],
    [{ estimate: { gte: 3, lte: 3 } }, ['mine']],
  ] as const)
    expect([filter, titlesOf(await hooks.call('GET', query(filter)))]).toEqual([filter, [...titles]]);
  expect(titlesOf(await hooks.call('GET', '/api/v1/issues?updatedSince=-P7D'))).toEqual(['mine', 'others']);
  expect(titlesOf(await hooks.call('GET', '/api/v1/issues?updatedSince=P1D'))).toEqual([]);
});

test('a team key is accepted in any case in every place', async () => {
  const creation = await hooks.call('POST', '/api/v1/issues', { team: 'eng', title: 'x' }, simulated);
  expect(creation.status).toBe(201);
  for (const [path, body] of [
    ['/labels', { name: 'of the team', team: 'eng' }],
    ['/workflows', { name: 'of the team', team: 'eng', type: 'started' }],
  ] as const) {
    const { status, json } = await hooks.call('POST', `/api/v1${path}`, body, simulated);
    expect([path, status, json.team]).toEqual([path, 201, 'ENG']);
    const listed = await hooks.call('GET', `/api/v1${path}?team=eng`);
    expect([path, listed.json.data.length > 0]).toEqual([path, true]);
  }
});

test('an invalid value is refused at its path by lists, webhooks and plugins alike', async () => {
  const creation = { team: 'ENG', name: 'Passing', type: 'started' };
  const { json: state } = await hooks.call('POST', '/api/v1/workflows', creation);
  expect((await hooks.call('GET', query({ state: 'passing' }))).status).toBe(200);
  await hooks.call('DELETE', `/api/v1/workflows/${state.id}`);
  const nobody = `usr_${'0'.repeat(26)}`;
  for (const [filter, detail] of [
    [{ dueDate: 'tomorrow' }, 'dueDate invalid_format'],
    [{ dueDate: { gt: '2026-13-45' } }, 'dueDate.gt invalid_format'],
    [{ createdAt: { lt: '2026-13-45' } }, 'createdAt.lt invalid_format'],
    [{ assignee: 'bogus' }, 'assignee not_found'],
    [{ assignee: nobody }, 'assignee not_found'],
    [{ creator: 'bogus' }, 'creator invalid_format'],
    [{ creator: { neq: nobody } }, 'creator.neq not_found'],
    [{ team: 'NOPE' }, 'team not_found'],
    [{ label: ['bug', 'bgu'] }, 'label.1 not_found'],
    [{ label: `lbl_${'0'.repeat(26)}` }, 'label not_found'],
    [{ state: 'open' }, 'state not_found'],
    [{ state: 'passing' }, 'state not_found'],
    [{ stateId: state.id }, 'stateId not_found'],
    [{ project: { in: ['nothing'] } }, 'project.in.0 not_found'],
    [{ parent: 'ENG-999' }, 'parent not_found'],
    [{ parent: `iss_${'0'.repeat(26)}` }, 'parent not_found'],
    [{ parent: 'bogus' }, 'parent invalid_format'],
    [{ identifier: '12' }, 'identifier invalid_format'],
    [{ identifier: 'ENG-10000000000' }, 'identifier invalid_format'],
    [{ identifier: 'NOPE-1' }, 'identifier not_found'],
    [{ id: 'bogus' }, 'id invalid_format'],
    [{ not: { or: [{ number: 1.5 }] } }, 'not.or.0.number invalid_type'],
    [{ estimate: -1 }, 'estimate too_small'],
    [{ estimate: { above: 1 } }, 'estimate.above unknown_field'],
    [{ titel: 'x' }, 'titel unknown_field'],
  ] as const) {
    expect([filter, detailOf(await hooks.call('GET', query(filter)))]).toEqual([filter, `filter.${detail}`]);
    expect([filter, detailOf(await subscribing(filter))]).toEqual([filter, `filter.${detail}`]);
    expect([filter, detailOf(await hearing(filter))]).toEqual([
      filter,
      `package.manifest.on.issue.created.filter.${detail}`,
    ]);
  }
  for (const [parameters, detail] of [
    ['assignee=bogus', 'assignee not_found'],
    ['label=bgu', 'label not_found'],
    ['team=NOPE', 'team not_found'],
    ['updatedSince=yesterday', 'updatedSince invalid_format'],
  ] as const)
    expect([parameters, detailOf(await hooks.call('GET', `/api/v1/issues?${parameters}`))]).toEqual([
      parameters,
      detail,
    ]);
});

test('an error suggests a similar name to callers with permission to read it', async () => {
  const fixOf = ({ json }: Reply): string => json.error.details[0].fix;
  expect(fixOf(await hooks.call('GET', '/api/v1/issues?label=bgu'))).toContain('Did you mean bug?');
  expect(fixOf(await hooks.call('GET', '/api/v1/issues?assignee=Anna'))).toContain('Did you mean Ana?');
  expect(fixOf(await hooks.call('GET', '/api/v1/issues?state=backlock'))).toContain('Did you mean backlog?');
  expect(fixOf(await hooks.call('GET', '/api/v1/issues?fields=titel'))).toContain('Did you mean title?');
  expect(fixOf(await hooks.call('GET', '/api/v1/issues?sort=-priorty'))).toContain('Did you mean priority?');
  expect(fixOf(await hooks.call('GET', '/api/v1/issues?expand=asignee'))).toContain('Did you mean assignee?');
  expect(fixOf(await hooks.call('GET', '/api/v1/issues?asignee=me'))).toContain('Did you mean assignee?');
  const mistyped = { team: 'ENG', title: 'x', label: ['bug'] };
  expect(fixOf(await hooks.call('POST', '/api/v1/issues', mistyped))).toContain('Did you mean labels?');
  const narrow = hooks.app.clientOf(await hooks.app.mintKey(['issues:read']));
  expect(fixOf(await narrow('GET', '/api/v1/issues?assignee=Anna'))).not.toContain('Ana?');
});

test('`me` is refused in event filters, and as an assignee for a plugin', async () => {
  for (const refused of [await subscribing({ assignee: 'me' }), await hearing({ assignee: 'me' })])
    expect(refused.json.error.message).toContain('Give the id of a member');
  const rights = rightsOf({}, ['issues:read']);
  const listWith = (name: string) =>
    askAs(hooks.app, rights, 'GET', query({ [name]: 'me' }), undefined, null);
  expect(await listWith('assignee')).toMatchObject({ status: 422 });
  expect(await listWith('creator')).toMatchObject({ status: 200 });
});

test('a subscription that can never match is refused', async () => {
  expect(detailOf(await subscribing({ priority: [] }))).toBe('filter conflict');
  for (const [type, near] of [
    ['issue.craeted', 'issue.created'],
    ['isue.*', 'issue.*'],
    ['weather.changed', ''],
  ] as const) {
    const { json } = await subscribing({}, { events: ['issue.created', type], filter: null });
    const [{ path, issue, fix }] = json.error.details;
    expect([path, issue, fix.includes(`There is no event type ${type}.`)]).toEqual([
      'events.1',
      'invalid_enum',
      true,
    ]);
    expect(fix).toContain(near && `Did you mean ${near}?`);
    if (type.endsWith('*')) continue;
    const refused = await installing({ on: { [type]: {} }, handlers: [`event:${type}`] });
    expect(detailOf(refused)).toBe(`package.manifest.on.${type} invalid_enum`);
  }
});

test('a narrowing accepts only existing teams, in any case', async () => {
  const scopes = (team: string[]) => ({ scopes: { 'issues:read': { why: 'test', where: { team } } } });
  expect(detailOf(await installing(scopes(['ENG', 'EGN'])))).toBe(
    'package.manifest.scopes.issues:read.where.team.1 not_found',
  );
  expect((await installing(scopes(['eng']))).status).toBe(201);
  const rights = rightsOf(scopes(['eng']).scopes, ['issues:read']);
  expect(await askAs(hooks.app, rights, 'GET', '/api/v1/issues')).toMatchObject({
    status: 200,
    text: expect.stringContaining('mine'),
  });
  // A hidden team is answered like a missing one.
  await hooks.call('POST', '/api/v1/teams', { key: 'OUT' });
  const [unseen, unknown] = await Promise.all(
    ['OUT', 'NOP'].map((key) => askAs(hooks.app, rights, 'GET', `/api/v1/issues?team=${key}`)),
  );
  expect(unseen!.text.replaceAll('OUT', 'NOP')).toBe(unknown!.text);
});

test('a subscription stops matching a deleted object, and its endpoint can still be updated', async () => {
  const { json: label } = await hooks.call('POST', '/api/v1/labels', { name: 'passing' });
  const filter = { or: [{ label: 'PASSING' }, { priority: 'urgent' }] };
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'], filter });
  const delivered = async (title: string, more: object): Promise<boolean> => {
    await hooks.file(title, more);
    await hooks.app.settled();
    return receiver.received.some(({ event }) => event.data.title === title);
  };
  expect(await delivered('labelled', { labels: ['Passing'] })).toBe(true);
  await hooks.call('DELETE', `/api/v1/labels/${label.id}`);
  const path = `/api/v1/webhooks/${endpoint.id}`;
  expect((await hooks.call('PATCH', path, { enabled: false })).status).toBe(200);
  expect((await hooks.call('PATCH', path, { enabled: true, filter })).status).toBe(200);
  expect(detailOf(await hooks.call('PATCH', path, { filter: { label: ['passing'] } }))).toBe(
    'filter.label not_found',
  );
  expect(await delivered('unlabelled', {})).toBe(false);
  expect(await delivered('urgent', { priority: 'urgent' })).toBe(true);
  await hooks.call('DELETE', path);
});

test('a relative time in a subscription refers to the time of the event', async () => {
  const filter = { dueDate: { gte: 'P0D', lte: 'P2D' } };
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'], filter });
  const from = await hooks.app.lastSequence();
  const dueIn = (days: number): string =>
    new Date(hooks.app.clock.now() + days * day).toISOString().slice(0, 10);
  for (const days of [-1, 0, 2, 3]) await hooks.file(`due in ${days}`, { dueDate: dueIn(days) });
  await hooks.app.settled();
  const delivered = (): string[] => receiver.received.map(({ event }) => event.data.title).toSorted();
  receiver.received.splice(
    0,
    receiver.received.length,
    ...receiver.received.filter(({ event }) => event.data.title.startsWith('due')),
  );
  expect(delivered()).toEqual(['due in 0', 'due in 2']);
  receiver.received.length = 0;
  hooks.app.clock.advance(10 * day);
  await hooks.call('POST', `/api/v1/webhooks/${endpoint.id}/replays`, { afterSequence: from });
  await hooks.app.settled();
  expect(delivered()).toEqual(['due in 0', 'due in 2']);
  // In a list it refers to the time of the request.
  expect(titlesOf(await hooks.call('GET', query(filter)))).toEqual([]);
});

test('an empty description equals a missing one in lists, past lists and subscriptions', async () => {
  const without = { and: [{ title: { startsWith: 'Text' } }, { description: null }] };
  const within = { title: { startsWith: 'Text' }, description: { null: false } };
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'], filter: without });
  receiver.received.length = 0;
  await hooks.file('Text of none');
  const emptied = await hooks.file('Text removed', { description: 'Some' });
  await hooks.file('Text there', { description: 'Some' });
  await hooks.app.settled();
  expect(receiver.received.map(({ event }) => event.data.title)).toEqual(['Text of none']);
  const asOf = await hooks.app.lastSequence();
  await hooks.call('PATCH', `/api/v1/issues/${emptied.id}`, { description: '' });
  for (const [filter, now, then] of [
    [without, ['Text of none', 'Text removed'], ['Text of none']],
    [within, ['Text there'], ['Text removed', 'Text there']],
  ] as const) {
    expect(titlesOf(await hooks.call('GET', query(filter)))).toEqual([...now]);
    expect(titlesOf(await hooks.call('GET', `${query(filter)}&asOf=${asOf}`))).toEqual([...then]);
  }
  await hooks.call('DELETE', `/api/v1/webhooks/${endpoint.id}`);
});
