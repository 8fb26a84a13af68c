import { afterAll, beforeAll, expect, test } from 'bun:test';
import { fieldTypes } from '../../../core/features/fields/contract.ts';
import type { PluginPackage } from '../../../sdk/plugin/manifest.ts';
import type { Json, Reply } from '../../app.ts';
import { packSource } from '../plugins/pack.ts';
import { startHooks, startReceiver, type Hooks, type Receiver } from '../webhooks/receiver.ts';

let hooks: Hooks;
let receiver: Receiver;
let listening: PluginPackage;
let ana: string;
/** The created fields by key. */
const created: Record<string, Json> = {};

const options = [
  { value: 'low', name: 'Low' },
  { value: 'high', name: 'Very high' },
  { value: 'critical', name: 'Critical' },
];

beforeAll(async () => {
  receiver = startReceiver();
  hooks = await startHooks();
  listening = await packSource(
    `{ id: 'com.test.hears', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } }, on: { 'issue.created': { handle() {} } } }`,
  );
  ana = (await hooks.call('POST', '/api/v1/members', { name: 'Ana' })).json.id;
  for (const [key, type, more] of [
    ['severity', 'select', { options }],
    [
      'platforms',
      'multi_select',
      { options: ['ios', 'android', 'web'].map((value) => ({ value, name: value })) },
    ],
    ['points', 'number', {}],
    ['seen_on', 'date', {}],
    ['customer', 'text', {}],
    ['page', 'url', {}],
    ['reviewer', 'member', {}],
    ['regression', 'checkbox', {}],
  ] as const) {
    const { status, json } = await hooks.call('POST', '/api/v1/fields', { key, name: key, type, ...more });
    expect([key, status]).toEqual([key, 201]);
    created[key] = json;
  }
  const { userId } = hooks.app.workspace;
  for (const [title, fields] of [
    [
      'a',
      {
        severity: 'high',
        points: 3,
        seen_on: '2026-11-21',
        customer: 'ACME GmbH',
        platforms: ['web', 'ios'],
      },
    ],
    ['b', { severity: 'Critical', points: -0.5, customer: 'Initech', reviewer: userId, regression: true }],
    [
      'c',
      {
        severity: 'low',
        seen_on: '2026-12-24',
        page: 'https://example.org/a',
        reviewer: ana,
        platforms: ['android'],
      },
    ],
    ['d', undefined],
  ] as const)
    await hooks.file(title, fields === undefined ? {} : { fields });
  await hooks.app.settled();
});
afterAll(async () => {
  await hooks.app.stop();
  await receiver.stop();
});

const titlesOf = ({ json }: Reply): string => json.data.map(({ title }: Json) => title).join('');
const list = (filter: object, more = ''): Promise<Reply> =>
  hooks.call('GET', `/api/v1/issues?sort=title&filter=${encodeURIComponent(JSON.stringify(filter))}${more}`);
const detailOf = ({ status, json }: Reply): string =>
  status < 300 ? `${status}` : `${json.error.details[0].path} ${json.error.details[0].issue}`;
const byTitle = async (title: string): Promise<Json> => (await list({ title })).json.data[0];
const set = (title: string, fields: object, headers = {}): Promise<Reply> =>
  byTitle(title).then(({ id }) => hooks.call('PATCH', `/api/v1/issues/${id}`, { fields }, headers));

test('an issue returns its values by key, and events carry the previous values', async () => {
  expect((await byTitle('a')).fields).toEqual({
    severity: 'high',
    points: 3,
    seen_on: '2026-11-21',
    customer: 'ACME GmbH',
    platforms: ['ios', 'web'],
  });
  expect((await byTitle('d')).fields).toEqual({});
  const issue = await hooks.file('merged', { fields: { severity: 'low', points: 1 } });
  const path = `/api/v1/issues/${issue.id}`;
  const from = await hooks.app.lastSequence();
  const patched = await hooks.call('PATCH', path, { fields: { severity: 'high', points: null } });
  expect([patched.status, patched.json.fields]).toEqual([200, { severity: 'high' }]);
  const again = await hooks.call('PATCH', path, { fields: { severity: 'Very High', points: null } });
  expect(again.json.version).toBe(patched.json.version);
  const { json: events } = await hooks.call('GET', `/api/v1/events?after=${from}`);
  expect(events.data.map(({ type, data }: Json) => [type, data.fields, data.previous])).toEqual([
    ['issue.updated', { severity: 'high' }, { fields: { severity: 'low', points: 1 } }],
  ]);
  const simulated = await hooks.call('PATCH', path, { fields: { points: 9 } }, { 'tatami-mode': 'simulate' });
  expect(simulated.status).toBe(200);
  const bulk = { ids: [issue.id], set: { fields: { points: 4 } } };
  const { json: answer } = await hooks.call('POST', '/api/v1/issues/bulk-update', bulk);
  expect(answer.data[0].changes.fields).toEqual({
    from: { severity: 'high' },
    to: { severity: 'high', points: 4 },
  });
  const put = (fields: object) =>
    hooks.call('PUT', '/api/v1/issues/external/jira/F-1', { team: 'ENG', title: 'put', fields });
  expect((await put({ points: 1 })).json.fields).toEqual({ points: 1 });
  expect((await put({ severity: 'low' })).json.fields).toEqual({ points: 1, severity: 'low' });
  await hooks.call('POST', '/api/v1/issues/bulk-delete', { filter: { title: ['merged', 'put'] } });
});

test('an invalid field value is rejected at its path, with the nearest key or option', async () => {
  const nobody = `usr_${'0'.repeat(26)}`;
  for (const [fields, detail] of [
    [{ sevrity: 'high' }, 'fields.sevrity unknown_field'],
    [{ severity: 'hihg' }, 'fields.severity invalid_enum'],
    [{ severity: ['high'] }, 'fields.severity invalid_type'],
    [{ platforms: ['ios', 'windows'] }, 'fields.platforms.1 invalid_enum'],
    [{ platforms: 'ios' }, 'fields.platforms invalid_type'],
    [{ points: '3' }, 'fields.points invalid_type'],
    [{ points: 2e15 }, 'fields.points too_big'],
    [{ customer: 'x'.repeat(2_001) }, 'fields.customer too_long'],
    [{ seen_on: '2026-02-30' }, 'fields.seen_on invalid_format'],
    [{ page: 'javascript:alert(1)' }, 'fields.page invalid_format'],
    [{ reviewer: nobody }, 'fields.reviewer not_found'],
    [{ regression: 'yes' }, 'fields.regression invalid_type'],
    [{ customer: 1 }, 'fields.customer invalid_type'],
  ] as const) {
    const reply = await set('d', fields);
    expect([fields, reply.status, detailOf(reply).startsWith(detail)]).toEqual([fields, 422, true]);
  }
  expect((await set('d', { sevrity: 'high' })).text).toContain('Did you mean severity?');
  expect((await set('d', { severity: 'hihg' })).text).toContain('Did you mean high?');
  expect((await byTitle('d')).version).toBe(1);
});

/** Filters of each field type with the titles they find, sorted. */
const meanings: readonly (readonly [filter: object, titles: string])[] = [
  [{ 'fields.severity': { in: ['high', 'Critical'] } }, 'ab'],
  [{ 'fields.severity': { neq: 'high' } }, 'bcd'],
  [{ 'fields.severity': null }, 'd'],
  [{ 'fields.severity': ['low', null] }, 'cd'],
  [{ 'fields.platforms': 'ios' }, 'a'],
  [{ 'fields.platforms': { nin: ['ios', 'web'] } }, 'bcd'],
  [{ 'fields.platforms': { null: false } }, 'ac'],
  [{ not: { 'fields.platforms': ['android'] } }, 'abd'],
  [{ 'fields.points': { gt: -1 } }, 'ab'],
  [{ 'fields.points': { lte: -0.5 } }, 'b'],
  [{ 'fields.points': 3 }, 'a'],
  [{ not: { 'fields.points': { lt: 100 } } }, 'cd'],
  [{ 'fields.seen_on': { gte: 'P0D', lt: 'P7D' } }, 'a'],
  [{ 'fields.seen_on': { startsWith: '2026-12' } }, 'c'],
  [{ 'fields.customer': { contains: 'acme' } }, 'a'],
  [{ 'fields.customer': { startsWith: 'INI' } }, 'b'],
  [{ 'fields.customer': 'Initech' }, 'b'],
  [{ 'fields.page': { contains: 'example.org' } }, 'c'],
  [{ 'fields.reviewer': { null: true } }, 'ad'],
  [{ 'fields.regression': true }, 'b'],
  [{ 'fields.regression': false }, ''],
  [{ or: [{ 'fields.points': 3 }, { 'fields.severity': 'low' }] }, 'ac'],
];

test('lists, webhooks and plugins accept the same filters with the same results', async () => {
  const people = [
    [{ 'fields.reviewer': ana }, 'c'],
    [{ 'fields.reviewer': { neq: ana } }, 'abd'],
  ] as const;
  const all = [...meanings, ...people];
  const delivered = new Map<string, string>();
  const endpoints = await Promise.all(
    all.map(([filter], index) =>
      hooks.register(`${receiver.url}/${index}`, { events: ['issue.created'], filter }),
    ),
  );
  const copies: string[] = [];
  for (const title of 'abcd') {
    const { fields } = await byTitle(title);
    copies.push((await hooks.file(`copy ${title}`, { fields })).id);
  }
  await hooks.app.settled();
  for (const { path, event } of receiver.received) {
    const index = path.split('/').at(-1)!;
    delivered.set(index, [...(delivered.get(index) ?? ''), event.data.title.at(-1)].toSorted().join(''));
  }
  await hooks.call('POST', '/api/v1/issues/bulk-delete', { ids: copies });
  for (const [index, [filter, titles]] of all.entries()) {
    expect([filter, titlesOf(await list(filter))]).toEqual([filter, titles]);
    expect([filter, delivered.get(`${index}`) ?? '']).toEqual([filter, titles]);
  }
  for (const { id } of endpoints) await hooks.call('DELETE', `/api/v1/webhooks/${id}`);
  expect(titlesOf(await list({ 'fields.reviewer': 'me' }))).toBe('b');
});

test('lists, webhooks and plugins reject the same invalid filters', async () => {
  const simulated = { 'tatami-mode': 'simulate' };
  const subscribing = (filter: object): Promise<Reply> =>
    hooks.call('POST', '/api/v1/webhooks', { url: receiver.url, events: ['issue.*'], filter }, simulated);
  const installing = (filter: object): Promise<Reply> => {
    const manifest = { ...listening.manifest, on: { 'issue.created': { filter } } };
    const body = { package: { ...listening, manifest }, grant: ['issues:read'] };
    return hooks.call('POST', '/api/v1/plugins', body, simulated);
  };
  for (const [filter, detail] of [
    [{ 'fields.sevrity': 'high' }, 'fields.sevrity unknown_field'],
    [{ 'fields.severity': 'hihg' }, 'fields.severity invalid_enum'],
    [{ 'fields.severity': { gt: 'low' } }, 'fields.severity.gt unknown_field'],
    [{ 'fields.points': '3' }, 'fields.points invalid_type'],
    [{ 'fields.points': { contains: '3' } }, 'fields.points.contains unknown_field'],
    [{ 'fields.seen_on': { gt: 'soon' } }, 'fields.seen_on.gt invalid_format'],
    [{ 'fields.regression': 1 }, 'fields.regression invalid_type'],
    [{ 'fields.reviewer': 'Ana' }, 'fields.reviewer invalid_format'],
    [{ 'fields.customer': { gt: 'a' } }, 'fields.customer.gt unknown_field'],
  ] as const) {
    expect([filter, detailOf(await list(filter))]).toEqual([filter, `filter.${detail}`]);
    expect([filter, detailOf(await subscribing(filter))]).toEqual([filter, `filter.${detail}`]);
    const on = 'package.manifest.on.issue.created.filter';
    expect([filter, detailOf(await installing(filter))]).toEqual([filter, `${on}.${detail}`]);
  }
  expect((await list({ 'fields.sevrity': 'high' })).text).toContain('Did you mean fields.severity?');
  expect((await installing({ 'fields.severity': 'high' })).status).toBe(201);
});

test('lists sort by custom fields: options in their order, missing values last, with working cursors', async () => {
  const pages = async (sort: string): Promise<string> => {
    let titles = '';
    for (let after = ''; ;) {
      const { status, json } = await hooks.call('GET', `/api/v1/issues?limit=1&sort=${sort}${after}`);
      expect([sort, status]).toEqual([sort, 200]);
      titles += json.data.map(({ title }: Json) => title).join('');
      if (!json.pageInfo.hasNextPage) return titles;
      after = `&after=${json.pageInfo.endCursor}`;
    }
  };
  for (const [sort, titles] of [
    ['fields.severity', 'cabd'],
    ['-fields.severity', 'bacd'],
    ['fields.points,title', 'bacd'],
    ['-fields.points,title', 'abcd'],
    ['fields.seen_on,-title', 'acdb'],
    ['fields.customer,title', 'abcd'],
    ['fields.regression,title', 'bacd'],
    ['-fields.page,title', 'cabd'],
  ] as const)
    expect([sort, await pages(sort)]).toEqual([sort, titles]);
  for (const sort of ['fields.platforms', 'fields.reviewer', 'fields.sevrity'])
    expect(detailOf(await hooks.call('GET', `/api/v1/issues?sort=${sort}`))).toBe('sort invalid_enum');
});

test('docs/spec/api.md lists every field type with its operators', async () => {
  const text = await Bun.file(new URL('../../../docs/spec/api.md', import.meta.url)).text();
  const codes = (cell: string): string[] =>
    [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, words = '']) => words.split(', '));
  const rows = text.split('| Custom fields |')[1]!.split('\n\n')[0]!.split('\n').slice(2);
  const said = new Map(
    rows.flatMap((row) => {
      const [, names = '', , beside = ''] = row.split('|');
      return codes(names).map((name) => [name, codes(beside)] as const);
    }),
  );
  expect([...said.keys()].toSorted()).toEqual([...fieldTypes].toSorted());
  for (const { key, type } of Object.values(created))
    for (const one of ['contains', 'startsWith', 'gt', 'gte', 'lt', 'lte'] as const) {
      const refused = (await list({ [`fields.${key}`]: { [one]: {} } })).json.error.details[0].issue;
      expect([type, one, refused !== 'unknown_field']).toEqual([type, one, said.get(type)!.includes(one)]);
    }
});
