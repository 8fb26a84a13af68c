// Texts of issues and requests, narrow keys and former owners gain nothing by a rule.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { createIssue, enabled, getIssue, setHigh, v1 } from './rules.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

const remove = (id: string) => app.call('DELETE', `${v1}/automations/${id}`);

async function keyOf(memberId: string, scopes: readonly string[]): Promise<Client> {
  const { json } = await app.call('POST', `${v1}/api-keys`, { name: 'Key', scopes, memberId });
  return app.clientOf(json.key);
}
const writing = ['automations:write', 'issues:write', 'plugins:read', 'teams:read', 'members:read'];

let members = 0;
async function member(scopes = writing): Promise<{ id: string; call: Client }> {
  const { json } = await app.call('POST', `${v1}/members`, { name: `Member ${++members}` });
  return { id: json.id, call: await keyOf(json.id, scopes) };
}

/** Sends a signed request to the address of a rule. */
async function send({ url, secret }: Json, body: object): Promise<Json> {
  const text = JSON.stringify(body);
  const seconds = Math.floor(app.clock.nowMs() / 1000);
  const signature = createHmac('sha256', secret).update(`${seconds}.${text}`).digest('hex');
  const response = await fetch(app.url + new URL(url).pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-webhook-signature': `t=${seconds},v1=${signature}` },
    body: text,
  });
  await app.settled();
  return { status: response.status, text: await response.text() };
}

test('a text whose check takes long is refused, and the scopes are checked before it', async () => {
  const nested = `{{ now${'[now'.repeat(1_990)}${']'.repeat(1_990)} }}`;
  const body = { name: 'Slow', trigger: { type: 'manual' }, actions: [{ type: 'comment', body: nested }] };
  const poor = await member(['automations:write']);
  expect((await poor.call('POST', `${v1}/automations`, body)).status).toBe(403);
  const { status, json } = await app.call('POST', `${v1}/automations`, body);
  expect([status, json.error.message]).toEqual([422, expect.stringContaining('nests more than 10 brackets')]);
  const long = { type: 'comment', body: `${'long '.repeat(1_900)}{{ now }}` };
  const many = await app.call('POST', `${v1}/automations`, { ...body, actions: Array(6).fill(long) });
  expect([many.status, many.json.error?.details[0].issue]).toEqual([422, 'too_long']);
});

test('an expression without a value selects no issues', async () => {
  const bystander = await createIssue(app, { title: 'Bystander' });
  for (const value of ['{{ issue.parent }}', '{{ issue.parent.id }}', '{{ parent.identifier }}']) {
    const rule = await enabled(app, { issues: { filter: { parent: value } } });
    await createIssue(app);
    const [run] = (await app.call('GET', `${v1}/plugins/${rule.id}/runs?limit=1`)).json.data;
    expect(run?.logs[0]?.message ?? 'no run').toMatch(/has no value|no run/);
    await remove(rule.id);
  }
  expect((await getIssue(app, bystander.id)).priority).toBe('none');
});

test('a request cannot put operators into the filter of a rule', async () => {
  const victim = await createIssue(app, { title: 'Victim' });
  const rule = await enabled(app, {
    trigger: { type: 'webhook' },
    issues: { filter: { title: '{{ webhook.title }}' } },
  });
  const address = (await app.call('POST', `${v1}/automations/${rule.id}/webhook`)).json;
  await send(address, { title: { contains: 'Vic' } });
  expect((await getIssue(app, victim.id)).priority).toBe('none');
  expect((await send(address, { title: 'Victim' })).status).toBe(200);
  expect((await getIssue(app, victim.id)).priority).toBe('high');
  await remove(rule.id);
});

test('the address of a rule is closed when its owner changes', async () => {
  const rule = await enabled(app, { trigger: { type: 'webhook' }, issues: { filter: { team: 'ENG' } } });
  const address = (await app.call('POST', `${v1}/automations/${rule.id}/webhook`)).json;
  expect((await send(address, {})).status).toBe(200);
  const { id } = await member();
  await app.call('PATCH', `${v1}/automations/${rule.id}`, { ownerId: id });
  expect((await send(address, { again: true })).status).toBe(404);
  await remove(rule.id);
});

test('a key without the scopes of a rule cannot give it more effect', async () => {
  const { id, call } = await member();
  const body = { name: 'Mine', trigger: { type: 'webhook' }, mode: 'simulate', issues: { filter: {} } };
  const { json: rule } = await call('POST', `${v1}/automations`, { ...body, actions: [setHigh] });
  const poor = await keyOf(id, ['automations:write']);
  const path = `${v1}/automations/${rule.id}`;
  for (const [method, at, sent] of [
    ['PATCH', path, { mode: 'apply' }],
    ['PATCH', path, { probation: false }],
    ['POST', `${path}/webhook`, undefined],
  ] as const)
    expect([sent, (await poor(method, at, sent)).status]).toEqual([sent, 403]);
  expect((await poor('PATCH', path, { name: 'Renamed' })).status).toBe(200);
  expect((await call('PATCH', path, { mode: 'apply', probation: false })).status).toBe(200);
  await remove(rule.id);
});

test('error messages of a rule are shown to its owner, and otherwise need the scope of texts of runs', async () => {
  const owner = await member([...writing, 'automations:read']);
  const other = await member(['automations:read', 'issues:read']);
  const { json: rule } = await owner.call('POST', `${v1}/automations`, {
    ...{ name: 'Fails', probation: false, trigger: { type: 'event', event: 'issue.created' } },
    actions: [{ type: 'set', fields: { assignee: '{{ issue.title }}' } }],
  });
  await owner.call('POST', `${v1}/automations/${rule.id}/enable`, { force: true });
  await createIssue(app, { title: 'Nobody of this name' });
  const messageFor = async (call: Client): Promise<string> =>
    (await call('GET', `${v1}/automations/${rule.id}/health`)).json.failures[0].message;
  expect(await messageFor(owner.call)).toContain('There is no such member');
  expect(await messageFor(other.call)).toBe(
    'The message requires the scope plugins:write. Use a key that has it.',
  );
  await remove(rule.id);
});
