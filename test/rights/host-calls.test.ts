// A plugin in the real sandbox, narrowed and not granted all: each host call it has, and the events it is sent.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { hostCallsOf } from '../../core/plugins/host-calls.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../plugins/pack.ts';

let app: TestApp;
const place: Record<string, Json> = {};

beforeAll(async () => {
  app = await startApp();
  await app.call('POST', '/api/v1/teams', { key: 'OUT' });
  for (const team of ['ENG', 'OUT']) {
    const issue = (await app.call('POST', '/api/v1/issues', { team, title: `${team} before` })).json;
    const comment = (await app.call('POST', `/api/v1/issues/${issue.id}/comments`, { body: 'before' })).json;
    place[team] = { issue: issue.id, comment: comment.id };
  }
  place.project = (await app.call('POST', '/api/v1/projects', { name: 'Spring' })).json;
});
afterAll(() => app.stop());

const hostCalls = (): string[] => [...hostCallsOf(app.app.routes).keys()];

const tracker = ['issues', 'comments', 'labels', 'projects'];

/** Installs a plugin that, once the schedule is run, makes every host call on objects of both teams and keeps how each ended. */
async function tryAll(id: string, scopes: object, grant: readonly string[]): Promise<Record<string, string>> {
  const args = (team: string): Record<string, unknown[]> => ({
    'issues.get': [place[team].issue],
    'issues.list': [{ team }],
    'issues.create': [{ team, title: 'made' }],
    'issues.update': [place[team].issue, { priority: 'high' }],
    'comments.list': [place[team].issue],
    'comments.create': [place[team].issue, { body: 'made' }],
    'comments.resolve': [place[team].comment],
    'labels.list': [{}],
    'projects.get': [place.project.id],
    'projects.list': [{}],
  });
  const calls = ['ENG', 'OUT'].flatMap((team) =>
    Object.entries(args(team)).map(([op, given]) => [`${op} ${team}`, op, given]),
  );
  expect(Object.keys(args('ENG')).toSorted()).toEqual(hostCalls().toSorted());
  const document = await packSource(`{
    id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${JSON.stringify(scopes)},
    schedules: { all: { cron: '0 3 * * *', limits: { cpuMs: 5000 }, handle: async (_, ctx) => {
      const ends = {};
      for (const [name, op, args] of ${JSON.stringify(calls)}) {
        const [space, method] = op.split('.');
        const call = ctx[space]?.[method];
        if (!call) { ends[name] = 'absent'; continue; }
        ends[name] = await call(...args).then((answer) => answer.data ? 'ok ' + (answer.data.length > 0) : 'ok', (error) => error.code);
      }
      await ctx.kv.set('ends', ends);
    } } },
  }`);
  const plugin = await install(app.call, document, { grant });
  await app.call('POST', `/api/v1/plugins/${plugin.id}/schedules/all/run`);
  await app.settled();
  const [run] = (await app.call('GET', `/api/v1/plugins/${plugin.id}/runs`)).json.data;
  expect([id, run.status, run.error]).toEqual([id, 'succeeded', null]);
  const { value } = (await app.call('GET', `/api/v1/plugins/${plugin.id}/kv/ends`)).json;
  await app.call('DELETE', `/api/v1/plugins/${plugin.id}`);
  return value;
}

const declared = Object.fromEntries(tracker.map((name) => [`${name}:write`, { why: 'test' }]));
const opsOf = (namespace: string): string[] => hostCalls().filter((op) => op.startsWith(`${namespace}.`));

test('each host call without its scope is refused, its namespace alone', async () => {
  for (const left of tracker) {
    const grant = Object.keys(declared).filter((scope) => scope !== `${left}:write`);
    const ends = await tryAll('com.test.ungranted', declared, grant);
    for (const [name, end] of Object.entries(ends)) {
      const isLeft = opsOf(left).includes(name.split(' ')[0]!);
      expect([left, name, end === 'insufficient_scope']).toEqual([left, name, isLeft]);
    }
  }
}, 60_000);

test('narrowed to a team, no host call reads or writes what is of another', async () => {
  const where = { why: 'test', where: { team: ['ENG'] } };
  const ends = await tryAll(
    'com.test.one-team',
    { ...declared, 'issues:write': where, 'comments:write': where },
    Object.keys(declared),
  );
  expect(ends).toMatchObject({
    'issues.get ENG': 'ok',
    'issues.get OUT': 'not_found',
    'issues.list ENG': 'ok true',
    'issues.list OUT': 'validation_failed',
    'issues.create ENG': 'ok',
    'issues.create OUT': 'insufficient_scope',
    'issues.update ENG': 'ok',
    'issues.update OUT': 'not_found',
    'comments.list ENG': 'ok true',
    'comments.list OUT': 'not_found',
    'comments.create ENG': 'ok',
    'comments.create OUT': 'not_found',
    'comments.resolve ENG': 'ok',
    'comments.resolve OUT': 'not_found',
  });
}, 60_000);

test('narrowed to fields, every host call that writes another is refused', async () => {
  const scopes = {
    ...declared,
    'issues:write': { why: 'test', fields: ['priority'] },
    'comments:write': { why: 'test', fields: ['resolvedAt'] },
  };
  const ends = await tryAll('com.test.fields', scopes, Object.keys(scopes));
  for (const team of ['ENG', 'OUT'])
    expect(ends).toMatchObject({
      [`issues.get ${team}`]: 'ok',
      [`issues.create ${team}`]: 'insufficient_scope',
      [`issues.update ${team}`]: 'ok',
      [`comments.create ${team}`]: 'insufficient_scope',
      [`comments.list ${team}`]: 'ok true',
    });
}, 60_000);

test('narrowed to a team, a plugin is sent the events of that team alone', async () => {
  const where = { why: 'test', where: { team: ['ENG'] } };
  const document = await packSource(
    `{
      id: 'com.test.hears', version: '1.0.0', engines: { tatami: '*' },
      scopes: ${JSON.stringify({ 'issues:read': where, 'comments:read': where })},
      on: { 'issue.created': { handle: keep }, 'comment.added': { handle: keep } },
    }`,
    `const keep = (event, ctx) => ctx.log.info(event.data.title ?? event.data.body);`,
  );
  const plugin = await install(app.call, document);
  for (const team of ['ENG', 'OUT']) {
    const issue = (await app.call('POST', '/api/v1/issues', { team, title: `${team} issue` })).json;
    await app.call('POST', `/api/v1/issues/${issue.id}/comments`, { body: `${team} comment` });
  }
  await app.settled();
  const runs: Json[] = (await app.call('GET', `/api/v1/plugins/${plugin.id}/runs`)).json.data;
  expect(runs.map((run) => run.logs[0].message).toSorted()).toEqual(['ENG comment', 'ENG issue']);
});
