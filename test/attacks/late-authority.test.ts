// Authority at commit time: credentials that end during an approval or a run, and repeated runs.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';

const v1 = '/api/v1';
const propose = { 'Tatami-Mode': 'propose' };
const simulate = { 'Tatami-Mode': 'simulate' };
let app: TestApp;
let receiver: Bun.Server<undefined>;
/** Paths of requests that a plugin sent with its secret. */
let sent: string[] = [];
/** Runs before the receiver of a plugin answers. */
let onRequest: (() => Promise<unknown>) | null = null;
/** Runs before the host of a webhook is resolved. */
let onResolve: (() => Promise<unknown>) | null = null;

async function once(act: (() => Promise<unknown>) | null): Promise<void> {
  [onRequest, onResolve] = [null, null];
  await act?.();
}

const create = async (path: string, body: object): Promise<Json> => {
  const { status, json } = await app.call('POST', `${v1}/${path}`, body);
  expect({ path, status: status < 300, json }).toMatchObject({ path, status: true });
  return json;
};

interface Person {
  readonly id: string;
  readonly keyId: string;
  readonly call: Client;
}

async function person(role: string, scopes: readonly string[] = allScopes): Promise<Person> {
  const { id } = await create('members', { name: `A ${role}`, role });
  const { id: keyId, key } = await create('api-keys', { name: 'key', memberId: id, scopes });
  return { id, keyId, call: app.clientOf(key) };
}
const revoke = ({ keyId }: Person) => app.call('DELETE', `${v1}/api-keys/${keyId}`);

beforeAll(async () => {
  receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      sent.push(decodeURIComponent(new URL(request.url).pathname));
      await once(onRequest);
      return new Response('from outside');
    },
  });
  app = await startApp({
    flags: { egressAllow: '127.0.0.1/32' },
    async resolve() {
      await once(onResolve);
      return [{ address: '8.8.8.8', family: 4 }];
    },
  });
});
beforeEach(() => void (sent = []));
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

/**
 * Installs a plugin that sends a request about an issue to another server, with its secret, and writes the response.
 */
async function installSender(mode: 'apply' | 'propose'): Promise<void> {
  const origin = `http://127.0.0.1:${receiver.port}`;
  const source = await packSource(
    `{
      id: 'test.late', version: '1.0.0', engines: { tatami: '*' },
      scopes: { 'issues:write': { why: 'test' } },
      net: [{ origin: '${origin}', why: 'test' }],
      secrets: { ACME_KEY: { hosts: ['${origin}'], header: 'authorization' } },
      actions: { look: { target: 'none', input: { type: 'object', properties: { id: { type: 'string' } } },
        handle: ({ input }, ctx) => look(input.id, ctx) } },
      on: { 'issue.created': { handle: ({ data }, ctx) => data.title === 'event' ? look(data.id, ctx) : undefined } },
    }`,
    `const look = async (id: string, ctx: any) => {
      const { title } = await ctx.issues.get(id);
      const headers = { authorization: ctx.secrets.ref('ACME_KEY') };
      const answer = await ctx.fetch('${origin}/' + encodeURIComponent(title), { headers });
      await ctx.issues.update(id, { description: await answer.text() });
    };`,
  );
  await install(app.call, source, { mode });
  await app.call('PUT', `${v1}/plugins/test.late/secrets/ACME_KEY`, { value: 'sk_live_1' });
}
const look = (by: Person, id: string) =>
  by.call('POST', `${v1}/plugins/test.late/actions/look`, { input: { id } });
const issue = (title: string): Promise<Json> => create('issues', { team: 'ENG', title });
const descriptionOf = async ({ id }: Json): Promise<string> =>
  (await app.call('GET', `${v1}/issues/${id}`)).json.description;
const newest = async (): Promise<Json> => (await app.call('GET', `${v1}/proposals?limit=1`)).json.data[0];
const decide = (by: Client, { id }: Json, what: string, headers = {}) =>
  by('POST', `${v1}/proposals/${id}/${what}`, what === 'approve' ? {} : undefined, headers);

test('a key that ends while its proposal is being approved writes nothing', async () => {
  const ada = await person('admin');
  const webhook = await create('webhooks', { url: 'https://hooks.example/old', events: ['issue.*'] });
  const body = { url: 'https://hooks.example/new' };
  const { status, json } = await ada.call('PATCH', `${v1}/webhooks/${webhook.id}`, body, propose);
  expect(status).toBe(202);
  const boss = await person('owner');
  const since = await app.lastSequence();
  onResolve = () => revoke(ada);
  const approval = await decide(boss.call, json, 'approve');
  expect([approval.status, approval.json.error?.code]).toEqual([403, 'forbidden']);
  expect((await app.call('GET', `${v1}/webhooks/${webhook.id}`)).json.url).toContain('/old');
  expect(await app.eventTypes(since)).not.toContain('automation.approved');
});

test('a run writes nothing once the key of its requester ends during the run', async () => {
  await installSender('apply');
  const ana = await person('member');
  const one = await issue('asked');
  onRequest = () => revoke(ana);
  await look(ana, one.id);
  await app.settled();
  expect(sent).toEqual(['/asked']);
  expect(await descriptionOf(one)).toBe('');
  const [run] = (await app.call('GET', `${v1}/plugins/test.late/runs?limit=1`)).json.data;
  expect(run).toMatchObject({ status: 'dead', error: { code: 'unauthorized' }, events: [] });
});

test("a proposal of a run is neither approved nor recomputed once the key of the run's requester has ended", async () => {
  await installSender('propose');
  const ana = await person('member');
  const one = await issue('proposed');
  await look(ana, one.id);
  await app.settled();
  const proposal = await newest();
  expect(proposal).toMatchObject({ source: 'plugin_run', status: 'open' });
  await revoke(ana);
  await app.call('PATCH', `${v1}/issues/${one.id}`, { title: 'changed since' });
  sent = [];
  for (const what of ['approve', 'rerun']) {
    const { status, json } = await decide(app.call, proposal, what);
    expect([what, status, json.error?.code]).toEqual([what, 403, 'forbidden']);
  }
  expect(sent).toEqual([]);
  expect(await descriptionOf(one)).toBe('');
});

test('replaying a run with external requests requires automations:write, and a simulation never sends them', async () => {
  await installSender('propose');
  const one = await issue('event');
  await app.settled();
  const proposal = await newest();
  await app.call('PATCH', `${v1}/issues/${one.id}`, { title: 'chosen', description: 'moved' });
  sent = [];
  const baseScopes = ['approvals:write', 'issues:write'];
  const narrow = await person('member', baseScopes);
  for (const what of ['approve', 'rerun']) {
    const refused = await decide(narrow.call, proposal, what);
    expect([what, refused.status, refused.json.error.code]).toEqual([what, 403, 'insufficient_scope']);
    expect(refused.json.error.message).toContain('automations:write');
    const simulated = await decide(app.call, proposal, what, simulate);
    expect([what, simulated.status, simulated.json.error.code]).toEqual([what, 409, 'conflict']);
    expect(simulated.json.error.message).toContain('Repeat the request without Tatami-Mode');
  }
  expect(sent).toEqual([]);
  const whole = await person('member', [...baseScopes, 'automations:write']);
  expect((await decide(whole.call, proposal, 'rerun')).json).toMatchObject({ revision: 2 });
  expect(sent).toEqual(['/chosen']);
});

test('the values of a proposal are visible only to callers who may read the objects, when they read, reject or approve it', async () => {
  const ada = await person('admin');
  await ada.call('POST', `${v1}/webhooks`, { url: 'https://hooks.example/', events: ['issue.*'] });
  const removal = (await app.call('DELETE', `${v1}/members/${ada.id}`, undefined, propose)).json;
  const effectKinds = ['member', 'webhook', 'inbox_item'];
  const valuesOf = ({ effects }: Json): [string, boolean][] =>
    effectKinds.map((kind) => {
      const fields = effects
        .filter((effect: Json) => effect.kind === kind)
        .flatMap((one: Json) => one.fields);
      return [kind, fields.some((field: Json) => 'after' in field)];
    });
  const member = await person('member');
  const read = await member.call('GET', `${v1}/proposals/${removal.id}`);
  expect(valuesOf(read.json)).toEqual(effectKinds.map((kind) => [kind, kind === 'member']));
  expect(valuesOf(removal)).toEqual(effectKinds.map((kind) => [kind, true]));
  const narrow = await person('member', ['approvals:write']);
  const body = { reason: 'no' };
  const rejected = await narrow.call('POST', `${v1}/proposals/${removal.id}/reject`, body, simulate);
  expect([rejected.status, valuesOf(rejected.json)]).toEqual([200, effectKinds.map((kind) => [kind, false])]);
});
