// Subscriptions across restarts: an event is delivered exactly to the subscribers that matched when it happened
// (docs/spec/webhooks.md › Subscriptions). Endpoints are disabled, enabled, narrowed and widened at random, and the
// server is killed in between; a model computes the expected deliveries. TATAMI_LONG=1 runs 40 kills.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp, type Json } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { hooksOf, startReceiver } from '../features/webhooks/receiver.ts';
import { handedOver } from './own-copy.ts';
import { clientOf, seededRandom, startServer, type Server } from './server.ts';

const kills = process.env.TATAMI_LONG === undefined ? 2 : 40;
const stepsPerKill = 16;

interface Modelled {
  readonly id: string;
  readonly subscription: { enabled: boolean; events: string[]; filter: { priority: string } | null };
  /** Matching issues, each with a flag that is true if the endpoint was disabled since. */
  readonly wanted: Map<string, { mayBeCanceled: boolean }>;
}

test('an endpoint receives exactly the events that matched its subscription when they happened, across kills', async () => {
  const seed = Number(process.env.SEED ?? 20_261_122);
  const random = seededRandom(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const begun = mkdtempSync(join(tmpdir(), 'tatami-wants-'));
  const receiver = startReceiver();
  const egress = { egressAllow: '127.0.0.0/8' };
  const first = await startApp({ dataDir: begun, clock: createSystemClock(), flags: egress });
  const endpoints: Modelled[] = [];
  for (let n = 0; n < 3; n++) {
    const { id } = await hooksOf(first).register(`${receiver.url}/${n}`, { events: ['issue.created'] });
    endpoints.push({
      id,
      subscription: { enabled: true, events: ['issue.created'], filter: null },
      wanted: new Map(),
    });
  }
  await first.stop();
  const dataDir = handedOver(begun);

  const start = async () => {
    const server = await startServer(dataDir, { flags: ['--egress-allow', egress.egressAllow] });
    return { ...server, call: clientOf(server.url, first.workspace.apiKey) };
  };
  let server = await start();
  const must = async (method: string, path: string, body?: object): Promise<Json> => {
    const { status, text, json } = await server.call(method, path, body);
    expect([seed, path, text, status < 300]).toEqual([seed, path, text, true]);
    return json;
  };
  const change = async (one: Modelled, patch: Partial<Modelled['subscription']>): Promise<void> => {
    await must('PATCH', `/api/v1/webhooks/${one.id}`, patch);
    Object.assign(one.subscription, patch);
    if (patch.enabled === false) for (const of of one.wanted.values()) of.mayBeCanceled = true;
  };
  const file = async (): Promise<void> => {
    const priority = pick(['high', 'low']);
    const { id } = await must('POST', '/api/v1/issues', { team: 'ENG', title: 'One', priority });
    for (const { subscription, wanted } of endpoints)
      if (
        subscription.enabled &&
        subscription.events[0] === 'issue.created' &&
        (subscription.filter?.priority ?? priority) === priority
      )
        wanted.set(id, { mayBeCanceled: false });
  };

  for (let kill = 0; kill < kills; kill++) {
    for (let step = 0; step < stepsPerKill; step++) {
      const one = pick(endpoints);
      const what = random();
      if (what < 0.5) await file();
      else if (what < 0.75) await change(one, { enabled: !one.subscription.enabled });
      else if (what < 0.9)
        await change(one, { filter: one.subscription.filter ? null : { priority: 'high' } });
      else await change(one, { events: [pick(['issue.created', 'issue.deleted'])], filter: null });
    }
    server.child.kill('SIGKILL');
    await server.child.exited;
    server = await start();
  }

  // Waits for all planned and open deliveries.
  for (const { id } of endpoints)
    for (let open = true; open;) {
      const { data } = await must('GET', `/api/v1/webhooks/${id}/deliveries?limit=100`);
      open = data.some(({ finishedAt }: Json) => finishedAt === null);
    }
  const created = new Map<string, string[]>();
  for (const { id } of endpoints)
    for (let after = ''; ;) {
      const { data, pageInfo } = await must('GET', `/api/v1/webhooks/${id}/deliveries?limit=100${after}`);
      for (const row of data) {
        const { payload } = await must('GET', `/api/v1/deliveries/${row.id}`);
        const key = `${id} ${JSON.parse(payload).data.id}`;
        created.set(key, [...(created.get(key) ?? []), row.status]);
      }
      if (!pageInfo.hasNextPage) break;
      after = `&after=${pageInfo.endCursor}`;
    }
  const wanted = endpoints.flatMap(({ id, wanted }) => [...wanted.keys()].map((issue) => `${id} ${issue}`));
  expect([seed, [...created.keys()].toSorted()]).toEqual([seed, wanted.toSorted()]);
  for (const { id, wanted } of endpoints)
    for (const [issue, { mayBeCanceled }] of wanted) {
      const statuses = created.get(`${id} ${issue}`)!;
      expect([seed, issue, statuses.length]).toEqual([seed, issue, 1]);
      if (!mayBeCanceled || statuses[0] !== 'canceled')
        expect([seed, issue, statuses]).toEqual([seed, issue, ['delivered']]);
    }
  const got = receiver.received.map(
    ({ path, event }) => `${endpoints[Number(path.at(-1))]!.id} ${event.data.id}`,
  );
  expect([seed, got.filter((one) => !created.has(one))]).toEqual([seed, []]);
  server.child.kill('SIGKILL');
  await server.child.exited;
  await receiver.stop();
  rmSync(dataDir, { recursive: true });
}, 120_000);

test('a plugin runs for the events that matched when they happened, across upgrades, a pause and a kill', async () => {
  const created = mkdtempSync(join(tmpdir(), 'tatami-wants-'));
  const app = await startApp({ dataDir: created, clock: createSystemClock() });
  await app.stop();
  const dataDir = handedOver(created);
  const versionOf = (version: string, filter = ''): Promise<Parameters<typeof install>[1]> =>
    packSource(`{
      id: 'com.test.wants', version: '${version}', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
      on: { 'issue.created': { ${filter} handle: () => undefined } },
    }`);
  const [all, high, allAgain] = await Promise.all([
    versionOf('1.0.0'),
    versionOf('2.0.0', "filter: { priority: 'high' },"),
    versionOf('3.0.0'),
  ]);
  const start = async () => {
    const server = await startServer(dataDir);
    return { ...server, call: clientOf(server.url, app.workspace.apiKey) };
  };
  const kill = async ({ child }: Server): Promise<void> => {
    child.kill('SIGKILL');
    await child.exited;
  };
  let server = await start();
  const file = (title: string) =>
    server.call('POST', '/api/v1/issues', { team: 'ENG', title, priority: 'low' });
  const set = (state: string) => server.call('PATCH', '/api/v1/plugins/com.test.wants', { state });
  await install(server.call, all);
  await file('wanted');
  await install(server.call, high);
  await file('not wanted');
  await install(server.call, allAgain);
  await file('wanted again');
  await kill(server);
  server = await start();
  const titles = async (): Promise<Map<string, string>> => {
    const events = (await server.call('GET', '/api/v1/events?types=issue.created&limit=100')).json.data;
    return new Map(events.map((event: Json) => [event.id, event.data.title]));
  };
  const runs = async (): Promise<unknown[]> => {
    const { data } = (await server.call('GET', '/api/v1/plugins/com.test.wants/runs?limit=100')).json;
    const titleOf = await titles();
    return data.map((run: Json) => titleOf.get(run.eventId));
  };
  expect((await runs()).toSorted()).toEqual(['wanted', 'wanted again']);

  await set('paused_by_admin');
  await file('not heard');
  await set('active');
  await kill(server);
  server = await start();
  await file('last');
  const expectedTitles = ['last', 'wanted', 'wanted again'];
  expect((await runs()).toSorted()).toEqual(expectedTitles);
  await server.call('POST', '/api/v1/plugins/com.test.wants/catch-up', {});
  while (!(await runs()).includes('not heard')) await Bun.sleep(10);
  await kill(server);
  rmSync(dataDir, { recursive: true });
}, 60_000);
