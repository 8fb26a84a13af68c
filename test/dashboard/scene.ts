// A server with the data that the tests of the web app look at, and a signed-in person.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { createSystemClock, startApp, type Json, type TestApp } from '../app.ts';
import { runInNode } from '../browser/run.ts';
import { password } from '../features/sign-in/member.ts';
import { allTrackerScopes, install, packSource } from '../features/plugins/pack.ts';
import { signIn, type Person } from '../features/sign-in/person.ts';
import { makeIssues } from '../generated-issues.ts';

const realIssues = join(import.meta.dir, '../../../shared/data/nlbse24-train.csv');

type ObjectName = 'automation' | 'board' | 'cycle' | 'project' | 'release' | 'view' | 'webhook';

export interface Scene {
  /** Another object after a restart. */
  readonly app: TestApp;
  readonly person: Person;
  /** URL of `/restart`, which restarts the server, and `/age`, which makes the sign-in old. */
  readonly control: string;
  /** Ids of objects by the name of their path parameter. */
  readonly ids: Readonly<Record<ObjectName | 'runProposal', string>>;
  stop(): Promise<void>;
}

/** Titles and descriptions: 1,500 real ones where they are at hand, otherwise generated ones. */
function issueTexts(): { title: string; description: string }[] {
  const { fresh, learn } = existsSync(realIssues)
    ? { fresh: readFileSync(realIssues, 'utf8'), learn: '' }
    : makeIssues({ teams: 1, learn: 0, fresh: 1_500, seed: 30 });
  const rows = parse(fresh === '' ? learn : fresh, { columns: true }) as { title: string; body: string }[];
  return rows.map(({ title, body }) => ({ title: title.slice(0, 500), description: body.slice(0, 20_000) }));
}

const v1 = '/api/v1';
const recentMs = 10 * 60_000;

/** @param role of the signed-in person */
export async function openScene(role: 'admin' | 'member' = 'admin'): Promise<Scene> {
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch({ url }) {
      if (url.endsWith('/restart')) await restart();
      // From now on, sensitive operations need a confirmation of the sign-in.
      if (url.endsWith('/age')) options.clock.advance(recentMs);
      return new Response('received');
    },
  });
  const control = `http://127.0.0.1:${receiver.port}`;
  const dataDir = mkdtempSync(join(tmpdir(), 'tatami-scene-'));
  const options = {
    clock: createSystemClock(),
    dataDir,
    flags: { egressAllow: '127.0.0.0/8', metricsPort: '0' },
  };
  let app = await startApp(options);
  /** Starts again at the same address, where open pages look for the server. */
  const restart = async (): Promise<void> => {
    const { port } = new URL(app.url);
    await app.stop();
    // Later objects sort after earlier ones.
    options.clock.advance(60_000);
    app = await startApp({ ...options, flags: { ...options.flags, port } }, app.workspace);
  };
  const post = async (path: string, body: object, headers?: Record<string, string>): Promise<Json> => {
    const { status, json, text } = await app.call('POST', v1 + path, body, headers);
    if (status >= 300) throw new Error(`${path}: ${text}`);
    return json;
  };
  const member = await post('/members', { name: 'Ana', role });
  const hash = await Bun.password.hash(password, { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 });
  const person = await signIn(app, app.workspace, member.id, hash);
  const texts = issueTexts();
  for (let at = 0; at < texts.length; at += 100)
    await post('/issues/bulk', {
      issues: texts.slice(at, at + 100).map((text) => ({ team: 'ENG', ...text })),
    });
  const objects = await makeObjects(post, `${control}/`);
  await makeTriage(app, post);
  const ids = { ...objects, runProposal: await makeRunProposal(app, post) };
  return {
    get app() {
      return app;
    },
    control,
    person,
    ids,
    async stop() {
      await app.stop();
      await receiver.stop(true);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

type Post = (path: string, body: object, headers?: Record<string, string>) => Promise<Json>;

async function makeObjects(post: Post, receiver: string): Promise<Readonly<Record<ObjectName, string>>> {
  const board = await post('/boards', { name: 'Work', team: 'ENG' });
  const dayMs = 86_400_000;
  const [startsAt, endsAt] = [-3, 11].map((days) => new Date(Date.now() + days * dayMs).toISOString());
  const cycle = await post('/cycles', { team: 'ENG', startsAt, endsAt });
  const project = await post('/projects', { name: 'Launch' });
  const pipeline = await post('/pipelines', { name: 'Production' });
  const release = await post('/releases', { name: 'First', tag: 'v1', pipelineId: pipeline.id });
  const view = await post('/views', {
    name: 'Crashes',
    visibility: 'shared',
    filter: { title: { contains: 'crash' } },
  });
  const webhook = await post('/webhooks', { url: receiver, events: ['label.*'] });
  const automation = await post('/automations', {
    name: 'Raise crashes',
    trigger: { type: 'event', event: 'issue.created', filter: { title: { contains: 'crash' } } },
    conditions: { parent: { exists: false }, time: { days: ['mon'], from: '09:00' } },
    actions: [
      { type: 'set', fields: { priority: 'high', assignee: null } },
      { type: 'comment', body: 'Raised.' },
    ],
  });
  await post('/labels', { name: 'from the scene' });
  await post('/issues', { team: 'ENG', title: 'To be approved' }, { 'Tatami-Mode': 'propose' });
  return {
    automation: automation.id,
    board: board.id,
    cycle: cycle.id,
    project: project.id,
    release: release.id,
    view: view.id,
    webhook: webhook.id,
  };
}

/** Issues that wait in the triage state. */
async function makeTriage(app: TestApp, post: Post): Promise<void> {
  const { json } = await app.call('GET', `${v1}/workflows?team=ENG`);
  const triage = json.data.find(({ type }: Json) => type === 'triage');
  for (let at = 1; at <= 12; at++)
    await post('/issues', { team: 'ENG', title: `Untriaged ${at}`, stateId: triage.id });
}

/** A plugin that reads, logs and proposes two changes of an issue with a certain title. */
const proposing = `{
  id: 'com.test.proposing', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
  on: { 'issue.created': { handle: async ({ data }, ctx) => {
    if (data.title !== 'Login fails for everybody') return;
    const now = await ctx.issues.get(data.id);
    ctx.log.info('The title says that everybody is affected: ' + now.title);
    await ctx.comments.create(data.id, { body: 'Everybody is affected.' });
    await ctx.issues.update(data.id, { priority: 'urgent' });
  } } },
}`;

/** @returns the id of the proposal */
async function makeRunProposal(app: TestApp, post: Post): Promise<string> {
  await install(app.call, await packSource(proposing), { mode: 'propose', modes: {} });
  await post('/issues', { team: 'ENG', title: 'Login fails for everybody' });
  await app.settled();
  const { json } = await app.call('GET', `${v1}/proposals?status=open`);
  return json.data.find(({ source }: Json) => source === 'plugin_run').id;
}

/** Runs a program of this folder under Node, as the signed-in person of a scene. @param args further arguments */
export async function runAt<T>(
  { app, person, ids, control }: Scene,
  program: string,
  ...args: readonly string[]
): Promise<T> {
  await app.settled();
  const { json: proposals } = await app.call('GET', '/api/v1/proposals');
  const { json: deliveries } = await app.call('GET', '/api/v1/deliveries');
  const target = {
    url: app.url,
    cookie: person.cookie,
    key: app.workspace.apiKey,
    member: person.memberId,
    control,
    metrics: app.metricsUrl,
    password,
    ids: {
      ...ids,
      proposal: proposals.data.find(({ source }: Json) => source === 'request').id,
      delivery: deliveries.data[0].id,
    },
  };
  return runInNode<T>(join('../dashboard', program), [JSON.stringify(target), ...args]);
}
