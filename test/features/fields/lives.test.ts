import { expect, test } from 'bun:test';
import type { Json, Reply } from '../../app.ts';
import { hooksOfFile } from '../webhooks/receiver.ts';

const { hooks, receiver } = await hooksOfFile();

const detailOf = ({ status, json }: Reply): string =>
  status < 300 ? `${status}` : `${json.error.details[0]?.path} ${json.error.details[0]?.issue}`;
const make = (key: string, type: string, more: object = {}): Promise<Reply> =>
  hooks.call('POST', '/api/v1/fields', { key, name: key, type, ...more });
const mustMake = async (...input: Parameters<typeof make>): Promise<Json> => {
  const { status, json, text } = await make(...input);
  expect([status, text.slice(0, 200)]).toEqual([201, expect.any(String)]);
  return json;
};
const change = ({ id }: Json, body: object): Promise<Reply> =>
  hooks.call('PATCH', `/api/v1/fields/${id}`, body);
const set = ({ id }: Json, fields: object): Promise<Reply> =>
  hooks.call('PATCH', `/api/v1/issues/${id}`, { fields });
const fieldsOf = async ({ id }: Json): Promise<Json> =>
  (await hooks.call('GET', `/api/v1/issues/${id}`)).json.fields;
const titles = async (filter: object): Promise<string[]> => {
  const query = encodeURIComponent(JSON.stringify(filter));
  const { json } = await hooks.call('GET', `/api/v1/issues?sort=title&filter=${query}`);
  return json.data?.map(({ title }: Json) => title) ?? json.error.details[0].issue;
};

test('field changes emit events, and keys are unique among existing fields, also under concurrent requests', async () => {
  const from = await hooks.app.lastSequence();
  const replies = await Promise.all([1, 2, 3].map(() => make('squad', 'text')));
  expect(replies.map(detailOf).toSorted()).toEqual(['201', 'key already_exists', 'key already_exists']);
  const squad = replies.find(({ status }) => status === 201)!.json;
  await change(squad, { name: 'Squad' });
  expect((await hooks.call('DELETE', `/api/v1/fields/${squad.id}`)).status).toBe(204);
  const heir = await mustMake('squad', 'number');
  const back = await hooks.call('POST', `/api/v1/fields/${squad.id}/restore`);
  expect(detailOf(back)).toBe('key already_exists');
  await hooks.call('DELETE', `/api/v1/fields/${heir.id}`);
  expect((await hooks.call('POST', `/api/v1/fields/${squad.id}/restore`)).status).toBe(200);
  const types = await hooks.app.eventTypes(from);
  expect(types.filter((type) => type.startsWith('field.'))).toEqual(
    ['created', 'updated', 'deleted', 'created', 'deleted', 'restored'].map((what) => `field.${what}`),
  );
});

test('an invalid field is rejected', async () => {
  const option = { value: 'a', name: 'A' };
  for (const [key, type, more, detail] of [
    ['Upper', 'text', {}, 'key invalid_format'],
    ['9lives', 'text', {}, 'key invalid_format'],
    ['x', 'colour', {}, 'type invalid_enum'],
    ['x', 'select', {}, 'options required'],
    ['x', 'text', { options: [option] }, 'options conflict'],
    ['x', 'select', { options: [option, { value: 'a', name: 'B' }] }, 'options.1.value already_exists'],
    ['x', 'select', { options: [option, { value: 'b', name: 'a' }] }, 'options.1.name already_exists'],
    ['x', 'select', { options: [{ value: "a'b", name: 'B' }] }, 'options.0.value invalid_format'],
    ['x', 'text', { team: 'NOPE' }, 'team not_found'],
  ] as const)
    expect([key, type, more, detailOf(await make(key, type, more))]).toEqual([key, type, more, detail]);
});

test('values of a deleted field are hidden and return when it is restored, and its key can be reused', async () => {
  const first = await mustMake('area', 'text');
  const issue = await hooks.file('kept', { fields: { area: 'core' } });
  await hooks.call('DELETE', `/api/v1/fields/${first.id}`);
  expect(await fieldsOf(issue)).toEqual({});
  expect(await titles({ 'fields.area': 'core' })).toEqual('unknown_field' as never);
  const second = await mustMake('area', 'number');
  expect(await titles({ 'fields.area': null })).toContain('kept');
  expect((await set(issue, { area: 7 })).json.fields).toEqual({ area: 7 });
  await hooks.call('DELETE', `/api/v1/fields/${second.id}`);
  await hooks.call('POST', `/api/v1/fields/${first.id}/restore`);
  expect(await fieldsOf(issue)).toEqual({ area: 'core' });
  await hooks.call('DELETE', `/api/v1/issues/${issue.id}`);
});

test('a subscription that names a deleted field matches nothing by it, and continues with its other conditions', async () => {
  const field = await mustMake('region', 'text');
  const other = await mustMake('zone', 'text');
  const filter = { or: [{ 'fields.region': 'eu' }, { 'fields.zone': { neq: 'x' }, title: 'zoned' }] };
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'], filter });
  const isDelivered = async (title: string, fields: object): Promise<boolean> => {
    await hooks.file(title, { fields });
    await hooks.app.settled();
    return receiver.received.some(({ event }) => event.data.title === title);
  };
  expect(await isDelivered('europe', { region: 'eu' })).toBe(true);
  expect(await isDelivered('america', { region: 'us' })).toBe(false);
  await hooks.call('DELETE', `/api/v1/fields/${field.id}`);
  expect(await isDelivered('zoned', { zone: 'x' })).toBe(false);
  await hooks.call('DELETE', `/api/v1/fields/${other.id}`);
  expect(await isDelivered('unzoned', {})).toBe(false);
  expect(await isDelivered('zoned', {})).toBe(true);
  // The new field has the same key and another type, so the stored filter no longer applies.
  await mustMake('region', 'number');
  expect(await isDelivered('numbered', { region: 3 })).toBe(false);
  expect((await hooks.call('PATCH', `/api/v1/webhooks/${endpoint.id}`, { enabled: false })).status).toBe(200);
});

test('options are renamed and archived, and issues retain their values', async () => {
  const options = [
    { value: 'low', name: 'Low' },
    { value: 'high', name: 'High' },
  ];
  const field = await mustMake('impact', 'select', { options });
  const issue = await hooks.file('impacted', { fields: { impact: 'High' } });
  expect(detailOf(await change(field, { options: [options[0]] }))).toBe('options conflict');
  const renamed = [{ value: 'high', name: 'Severe', archived: true }, options[0]!];
  expect((await change(field, { options: renamed })).status).toBe(200);
  expect(await fieldsOf(issue)).toEqual({ impact: 'high' });
  expect(await titles({ 'fields.impact': 'Severe' })).toEqual(['impacted']);
  expect(await titles({ 'fields.impact': 'high' })).toEqual(['impacted']);
  const fresh = await hooks.file('fresh');
  expect((await set(fresh, { impact: 'high' })).text).toContain(
    'The option high is archived. Choose from low.',
  );
  expect((await set(issue, { impact: 'high' })).status).toBe(200);
});

test('an archived field retains and shows its values, and accepts no new ones', async () => {
  const field = await mustMake('batch', 'text');
  const issue = await hooks.file('archived', { fields: { batch: 'A1' } });
  await change(field, { archived: true });
  expect(await fieldsOf(issue)).toEqual({ batch: 'A1' });
  expect(await titles({ 'fields.batch': 'A1' })).toEqual(['archived']);
  expect(detailOf(await set(issue, { batch: 'A2' }))).toBe('fields.batch conflict');
  expect((await set(issue, { batch: 'A1' })).status).toBe(200);
  expect((await set(issue, { batch: null })).json.fields).toEqual({});
});

test('a removed member stays in existing values, and is not accepted as a new value', async () => {
  await mustMake('tester', 'member');
  const { id } = (await hooks.call('POST', '/api/v1/members', { name: 'Leaving' })).json;
  const issue = await hooks.file('tested', { fields: { tester: id } });
  expect((await hooks.call('DELETE', `/api/v1/members/${id}`)).status).toBe(204);
  expect(await fieldsOf(issue)).toEqual({ tester: id });
  expect(await titles({ 'fields.tester': id })).toEqual(['tested']);
  expect((await set(issue, { tester: id })).status).toBe(200);
  expect(detailOf(await set(await hooks.file('untested'), { tester: id }))).toBe('fields.tester not_found');
});

test('a required field is set on every new issue of its team, and cannot be cleared', async () => {
  await hooks.call('POST', '/api/v1/teams', { key: 'OPS' });
  const field = await mustMake('pager', 'text', { team: 'OPS', required: true });
  const filed = (team: string, fields?: object): Promise<Reply> =>
    hooks.call('POST', '/api/v1/issues', { team, title: 'x', ...(fields && { fields }) });
  expect(detailOf(await filed('OPS'))).toBe('fields.pager required');
  expect(detailOf(await filed('OPS', { pager: '' }))).toBe('fields.pager required');
  expect(detailOf(await filed('ENG', { pager: '1' }))).toBe('fields.pager unknown_field');
  expect((await filed('ENG')).status).toBe(201);
  const { json: issue } = await filed('OPS', { pager: '1' });
  expect(detailOf(await set(issue, { pager: null }))).toBe('fields.pager required');
  const entries = [
    { team: 'OPS', title: 'y', fields: { pager: '2' } },
    { team: 'OPS', title: 'z' },
  ];
  expect(detailOf(await hooks.call('POST', '/api/v1/issues/bulk', { issues: entries }))).toBe(
    'issues.1.fields.pager required',
  );
  const keysOf = async (query: string): Promise<string[]> =>
    (await hooks.call('GET', `/api/v1/fields${query}`)).json.data.map(({ key }: Json) => key);
  expect(await keysOf('?team=ENG')).not.toContain('pager');
  expect(await keysOf('?team=OPS')).toContain('pager');
  await change(field, { required: false });
  expect((await filed('OPS')).status).toBe(201);
});

test('two concurrent changes of different fields of one issue both apply', async () => {
  const keys = ['f1', 'f2', 'f3', 'f4'];
  for (const key of keys) await mustMake(key, 'number');
  const issue = await hooks.file('raced');
  const replies = await Promise.all(keys.map((key, index) => set(issue, { [key]: index })));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await fieldsOf(issue)).toEqual({ f1: 0, f2: 1, f3: 2, f4: 3 });
});

test('a workspace sees only its own fields, whose keys other workspaces can use as well', async () => {
  await mustMake('secret_key', 'text');
  const other = await hooks.app.addWorkspace('Other', 'OTH');
  const call = hooks.app.clientOf(other.apiKey);
  expect((await call('GET', '/api/v1/fields')).json.data).toEqual([]);
  const refused = await call('GET', `/api/v1/issues?sort=fields.secret_key`);
  expect([refused.status, refused.text.includes('Did you mean fields.secret_key')]).toEqual([422, false]);
  const created = await call('POST', '/api/v1/fields', { key: 'secret_key', name: 'Mine', type: 'number' });
  expect(created.status).toBe(201);
});
