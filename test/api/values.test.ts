// Properties of the in-process adapter: values instead of texts, and state shared with HTTP (docs/decisions/0019).
// `entrances.test.ts` checks that both adapters respond alike.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Staging, stagedCharsMax } from '../../core/kernel/changes/staging.ts';
import type { Principal } from '../../core/kernel/http/principal.ts';
import type { Outcome, ValueCall } from '../../core/kernel/http/values.ts';
import type { LedgerAmounts } from '../../core/kernel/ledger/ledger.ts';
import { FairQuota } from '../../core/platform/lib/fairness/fair-quota.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { asText, keyAuthenticateOf, valueClientOf } from '../value-client.ts';

let app: TestApp;
let principal: Principal;

const principalIn = async (of: TestApp): Promise<Principal> => {
  const authenticated = await keyAuthenticateOf(of)(of.workspace.apiKey);
  if (!authenticated) throw new Error('There is no such key.');
  return authenticated;
};
const ask = (name: string, call: Partial<ValueCall>): Promise<Outcome<string | null>> =>
  app.app.caller(asText)(app.app.route(name), { principal, isCounted: false, params: {}, ...call });
const bodyOf = async (name: string, call: Partial<ValueCall>): Promise<Json> => {
  const outcome = await ask(name, call);
  if (outcome.error) throw outcome.error;
  return JSON.parse(outcome.body ?? 'null');
};

beforeAll(async () => {
  app = await startApp();
  principal = await principalIn(app);
  for (let n = 0; n < 5; n++)
    await app.call('POST', '/api/v1/issues', { team: 'ENG', title: `Issue ${n}`, labels: ['bug'] });
});
afterAll(() => app.stop());

test('parameters have the types of their texts in a URL', async () => {
  const filter = { title: { contains: 'Issue' } };
  const rows: [query: Record<string, unknown>, url: string][] = [
    [{ limit: 2 }, 'limit=2'],
    [{ limit: '2' }, 'limit=2'],
    [{ fields: ['id', 'title'] }, 'fields=id,title'],
    [{ filter }, `filter=${encodeURIComponent(JSON.stringify(filter))}`],
    [{ limit: 2, after: null, sort: undefined }, 'limit=2'],
    [{ limit: 2.5 }, 'limit=2.5'],
    [{ limit: 1e21 }, 'limit=1e21'],
    [{ limit: true }, 'limit=true'],
    [{ team: '\ud800' }, 'team=%EF%BF%BD'],
    [{ team: 'a\0' }, 'team=a%00'],
    [JSON.parse('{"__proto__":"x"}'), '__proto__=x'],
  ];
  for (const [query, url] of rows) {
    const reply = await app.call('GET', `/api/v1/issues?${url}`);
    const outcome = await ask('issues.list', { query });
    const outcomeBody = outcome.error
      ? { code: outcome.error.code, message: outcome.error.message }
      : JSON.parse(outcome.body!);
    const { code, message } = reply.json.error ?? {};
    expect([url, outcomeBody]).toEqual([url, reply.status < 400 ? reply.json : { code, message }]);
  }
});

test('both adapters share idempotency keys and stored responses', async () => {
  const values = valueClientOf(app, app.workspace.apiKey);
  for (const [first, second] of [
    [app.call, values],
    [values, app.call],
    [values, values],
  ] as const) {
    const from = await app.lastSequence();
    const key = { 'idempotency-key': `key ${from}` };
    const body = { team: 'ENG', title: 'Once' };
    const created = await first('POST', '/api/v1/issues', body, key);
    const again = await second('POST', '/api/v1/issues', body, key);
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      created.text,
      'true',
    ]);
    expect(again.headers.get('location')).toBe(created.headers.get('location'));
    expect(await second('POST', '/api/v1/issues', { ...body, title: 'Other' }, key)).toMatchObject({
      status: 422,
      json: { error: { code: 'idempotency_key_reused' } },
    });
    const path = `/api/v1/issues/${created.json.id}`;
    const gone = [await first('DELETE', path, undefined, key), await second('DELETE', path, undefined, key)];
    expect(gone.map(({ status, text }) => [status, text])).toEqual([
      [204, ''],
      [204, ''],
    ]);
    expect(await app.eventTypes(from)).toEqual(['issue.created', 'issue.deleted']);
  }
});

test("a caller's later change of a returned value does not change the staged object", async () => {
  const [team] = (await bodyOf('teams.list', {})).data;
  const [from, to] = (await bodyOf('workflows.list', { query: { team: team.key } })).data;
  const staged = new Staging(new FairQuota(stagedCharsMax), app.workspace.workspaceId, 'plg_x');
  const transitions: Record<string, string[]> = { [from.id]: [to.id] };
  const outcome = await ask('teams.update', { params: { id: team.id }, body: { transitions }, staged });
  expect(outcome.error).toBeNull();
  transitions[from.id]!.push('changed');
  delete transitions[from.id];
  expect(staged.changes.map(({ after }) => after)).toMatchObject([{ transitions: { [from.id]: [to.id] } }]);
  expect((await bodyOf('teams.get', { params: { id: team.id } })).transitions).toBeNull();
});

test('the limits of bodies apply to values', async () => {
  const { id } = await bodyOf('issues.create', { body: { team: 'ENG', title: 'Capped' } });
  const refused = async (body: unknown): Promise<string | undefined> =>
    (await ask('issues.update', { params: { id }, body })).error?.code;
  expect(await refused({ title: 'x'.repeat(1024 * 1024) })).toBe('payload_too_large');
  expect(await refused({ title: new Date() })).toBe('malformed_request');
  expect(await refused(undefined)).toBe('malformed_request');
  expect(await refused(null)).toBe('validation_failed');
  // Large enough to be validated in several slices.
  expect(await refused({ description: 'x'.repeat(200_000) })).toBeUndefined();
  expect(await refused({ description: 'x'.repeat(200_000), surprise: 1 })).toBe('validation_failed');
});

test('pages and streams are served over HTTP only', async () => {
  const others = app.app.routes.filter(({ kind }) => kind === 'raw' || kind === 'stream');
  const { identifier } = (await bodyOf('issues.list', {})).data[0];
  const documents: Record<string, string> = {
    'docs.document': 'scopes',
    'docs.api': 'inbox',
    'docs.guides': 'paging',
    'docs.plugins': 'tutorial',
    'docs.spec': 'api',
  };
  for (const { name, params: schema, example: body } of others) {
    const all = { identifier, code: 'not_found', name: documents[name] ?? '' };
    const params = Object.fromEntries(
      Object.entries(all).filter(([param]) => param in (schema?.properties ?? {})),
    );
    expect([name, (await ask(name, { params, body })).error?.code]).toEqual([name, 'forbidden']);
  }
});

test('a counted call takes from the bucket of its token, and an uncounted one from none', async () => {
  const limited = await startApp({ flags: { rateLimit: 'on', rateRead: '3' } });
  const call = limited.app.caller(asText);
  const who = await principalIn(limited);
  const list = async (isCounted: boolean): Promise<string | undefined> =>
    (await call(limited.app.route('teams.list'), { principal: who, isCounted, params: {} })).error?.code;
  for (let n = 0; n < 5; n++) expect(await list(false)).toBeUndefined();
  expect((await limited.call('GET', '/api/v1/teams')).status).toBe(200);
  expect([await list(true), await list(true), await list(true)]).toEqual([
    undefined,
    undefined,
    'rate_limited',
  ]);
  expect((await limited.call('GET', '/api/v1/teams')).status).toBe(429);
  await limited.stop();
});

test('a call is charged to its caller, by its length', async () => {
  const paid = (): LedgerAmounts => {
    const amounts = app.services.ledger.usageOf(app.workspace.workspaceId).get(principal.tokenId);
    if (!amounts) throw new Error('Nothing was charged.');
    return { ...amounts };
  };
  const before = paid();
  const body = { team: 'ENG', title: 'Paid' };
  const { length } = JSON.stringify(await bodyOf('issues.create', { body }));
  const after = paid();
  expect(after.requests - before.requests).toBe(1);
  expect(after.bytesIn - before.bytesIn).toBe(JSON.stringify(body).length);
  expect(after.bytesOut - before.bytesOut).toBe(length);
  expect(after.cpuMs).toBeGreaterThan(before.cpuMs);
});
