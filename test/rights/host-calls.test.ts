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
    const other = (await app.call('POST', '/api/v1/issues', { team, title: `${team} beside` })).json;
    const related = async (type: string): Promise<string> =>
      (await app.call('POST', `/api/v1/issues/${issue.id}/relations`, { type, issueId: other.id })).json.id;
    const template = (await app.call('POST', '/api/v1/templates', { name: 'Report', team })).json;
    const span = { startsAt: '2031-03-03T00:00:00Z', endsAt: '2031-03-17T00:00:00Z' };
    const cycle = (await app.call('POST', '/api/v1/cycles', { team, ...span })).json;
    const on = `/api/v1/comments/${comment.id}/reactions`;
    const reaction = (await app.call('POST', on, { emoji: 'eyes' })).json;
    place[team] = {
      ...{ issue: issue.id, comment: comment.id, other: other.id, template: template.id },
      ...{
        relation: await related('blocks'),
        doomed: await related('relates_to'),
        cycle: cycle.id,
        reaction: reaction.id,
      },
    };
  }
  place.board = (await app.call('POST', '/api/v1/boards', { name: 'All' })).json;
  place.view = (await app.call('POST', '/api/v1/views', { name: 'All', visibility: 'shared' })).json;
  place.project = (await app.call('POST', '/api/v1/projects', { name: 'Spring' })).json;
  const below = `/api/v1/projects/${place.project.id}`;
  place.milestone = (await app.call('POST', `${below}/milestones`, { name: 'Beta' })).json;
  place.pipeline = (await app.call('POST', '/api/v1/pipelines', { name: 'Editor' })).json;
  const release = { name: 'Spring', tag: '1', pipelineId: place.pipeline.id };
  place.release = (await app.call('POST', '/api/v1/releases', release)).json;
});
afterAll(() => app.stop());

const hostCalls = (): string[] => [...hostCallsOf(app.app.routes).keys()];

const tracker = [
  'issues',
  'comments',
  'attachments',
  'boards',
  'cycles',
  'labels',
  'projects',
  'releases',
  'views',
  'workflows',
];
/** What calls need of another namespace beside their own. */
const also: Readonly<Record<string, string>> = Object.fromEntries(
  ['boards.cards', 'boards.move', 'cycles.progress', 'projects.progress'].map((op) => [op, 'issues']),
);

/** What each host call is made with, on objects of a team. */
const argsOf = (team: string): Record<string, unknown[]> => ({
  'issues.get': [place[team].issue],
  'issues.list': [{ team }],
  'issues.create': [{ team, title: 'made' }],
  'issues.update': [place[team].issue, { priority: 'high' }],
  'issues.move': [place[team].issue, { team }],
  'relations.list': [place[team].issue],
  'relations.get': [place[team].relation],
  'relations.create': [place[team].other, { type: 'relates_to', issueId: place[team].issue }],
  'relations.delete': [place[team].doomed],
  'templates.list': [{}],
  'templates.get': [place[team].template],
  'comments.list': [place[team].issue],
  'comments.create': [place[team].issue, { body: 'made' }],
  'comments.resolve': [place[team].comment],
  'attachments.list': [place[team].issue],
  'attachments.create': [place[team].issue, { title: 'made', url: 'https://example.com' }],
  'cycles.get': [place[team].cycle],
  'cycles.list': [{ team }],
  'cycles.progress': [place[team].cycle],
  'comments.get': [place[team].comment],
  'comments.update': [place[team].comment, { body: 'after' }],
  'reactions.list': [place[team].comment],
  'reactions.create': [place[team].comment, { emoji: 'heart' }],
  'reactions.listOnIssue': [place[team].issue],
  'reactions.createOnIssue': [place[team].issue, { emoji: 'heart' }],
  'reactions.delete': [place[team].reaction],
  'subscribers.list': [place[team].issue],
  'search.query': [{ q: `${team} before` }],
  'labels.list': [{}],
  'fields.list': [{}],
  'boards.get': [place.board.id],
  'boards.list': [{}],
  'boards.cards': [place.board.id],
  'boards.move': [place.board.id, { issueId: place[team].issue, column: 'Todo' }],
  'views.get': [place.view.id],
  'views.list': [{}],
  'projects.get': [place.project.id],
  'projects.list': [{}],
  'projects.create': [{ name: 'made' }],
  'projects.update': [place.project.id, { status: 'started' }],
  'projects.progress': [place.project.id],
  'project-updates.list': [place.project.id],
  'project-updates.create': [place.project.id, { health: 'on_track', body: 'made' }],
  'milestones.get': [place.milestone.id],
  'milestones.list': [place.project.id],
  'milestones.create': [place.project.id, { name: 'made' }],
  'milestones.update': [place.milestone.id, { description: 'made' }],
  'pipelines.list': [{}],
  'releases.get': [place.release.id],
  'releases.list': [{}],
  'releases.create': [{ name: 'made', tag: `made for ${team}`, pipelineId: place.pipeline.id }],
  'releases.update': [place.release.id, { notes: 'made' }],
  'releases.publish': [place.release.id],
});

/**
 * Installs a plugin that makes every host call on objects of both teams and keeps how each ended. It does so in a run for each, as a run
 * makes no more than a hundred calls.
 */
async function tryAll(id: string, scopes: object, grant: readonly string[]): Promise<Record<string, string>> {
  const teams = ['ENG', 'OUT'];
  const callsOf = (team: string): unknown[] =>
    Object.entries(argsOf(team)).map(([op, args]) => [`${op} ${team}`, op, args]);
  expect(Object.keys(argsOf('ENG')).toSorted()).toEqual(hostCalls().toSorted());
  const scheduleOf = (team: string): string =>
    `${team.toLowerCase()}: { cron: '0 3 * * *', limits: { cpuMs: 5000 }, handle: async (_, ctx) => {
      const ends = {};
      for (const [name, op, args] of ${JSON.stringify(callsOf(team))}) {
        const [space, method] = op.split('.');
        const call = ctx[space]?.[method];
        if (!call) { ends[name] = 'absent'; continue; }
        ends[name] = await call(...args).then((answer) => answer?.data ? 'ok ' + (answer.data.length > 0) : 'ok', (error) => error.code);
      }
      await ctx.kv.set('ends-${team}', ends);
    } }`;
  const document = await packSource(`{
    id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${JSON.stringify(scopes)},
    schedules: { ${teams.map(scheduleOf).join(', ')} },
  }`);
  const plugin = await install(app.call, document, { grant });
  const ends: Record<string, string> = {};
  for (const team of teams) {
    await app.call('POST', `/api/v1/plugins/${plugin.id}/schedules/${team.toLowerCase()}/run`);
    await app.settled();
    const [run] = (await app.call('GET', `/api/v1/plugins/${plugin.id}/runs`)).json.data;
    expect([id, team, run.status, run.error]).toEqual([id, team, 'succeeded', null]);
    Object.assign(ends, (await app.call('GET', `/api/v1/plugins/${plugin.id}/kv/ends-${team}`)).json.value);
  }
  await app.call('DELETE', `/api/v1/plugins/${plugin.id}`);
  return ends;
}

const declared = Object.fromEntries(tracker.map((name) => [`${name}:write`, { why: 'test' }]));
/** The calls that need the scopes of a namespace. */
const opsOf = (namespace: string): string[] =>
  [...hostCallsOf(app.app.routes)]
    .filter(([, { route }]) => route.scope!.startsWith(`${namespace}:`))
    .map(([op]) => op);

test('each host call without its scope is refused, its namespace alone', async () => {
  for (const left of tracker) {
    const grant = Object.keys(declared).filter((scope) => scope !== `${left}:write`);
    const ends = await tryAll('com.test.ungranted', declared, grant);
    for (const [name, end] of Object.entries(ends)) {
      const [op = ''] = name.split(' ');
      const isLeft = opsOf(left).includes(op) || also[op] === left;
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
    'issues.create OUT': 'validation_failed',
    'issues.update ENG': 'ok',
    'issues.update OUT': 'not_found',
    'issues.move OUT': 'not_found',
    'relations.list ENG': 'ok true',
    'relations.list OUT': 'not_found',
    'relations.get ENG': 'ok',
    'relations.get OUT': 'not_found',
    'relations.create OUT': 'not_found',
    'relations.delete OUT': 'not_found',
    'templates.list ENG': 'ok true',
    'templates.get ENG': 'ok',
    'templates.get OUT': 'not_found',
    'comments.list ENG': 'ok true',
    'comments.list OUT': 'not_found',
    'comments.create ENG': 'ok',
    'comments.create OUT': 'not_found',
    'comments.resolve ENG': 'ok',
    'comments.resolve OUT': 'not_found',
    'boards.cards ENG': 'ok',
    'boards.move ENG': 'ok',
    'boards.move OUT': 'validation_failed',
    'reactions.create ENG': 'ok',
    'reactions.create OUT': 'not_found',
    'reactions.listOnIssue ENG': 'ok true',
    'reactions.listOnIssue OUT': 'not_found',
    'reactions.delete OUT': 'not_found',
    'subscribers.list OUT': 'not_found',
    'search.query ENG': 'ok true',
    'search.query OUT': 'ok false',
  });
}, 60_000);

test('narrowed to fields, every host call that writes another is refused', async () => {
  const scopes = {
    ...declared,
    'issues:write': { why: 'test', fields: ['priority'] },
    'comments:write': { why: 'test', fields: ['resolvedAt'] },
  };
  const back = `/api/v1/boards/${place.board.id}/move`;
  for (const team of ['ENG', 'OUT'])
    await app.call('POST', back, { issueId: place[team].issue, column: 'Done' });
  const ends = await tryAll('com.test.fields', scopes, Object.keys(scopes));
  for (const team of ['ENG', 'OUT'])
    expect(ends).toMatchObject({
      [`issues.get ${team}`]: 'ok',
      [`issues.create ${team}`]: 'insufficient_scope',
      [`issues.update ${team}`]: 'ok',
      [`comments.create ${team}`]: 'insufficient_scope',
      [`comments.list ${team}`]: 'ok true',
      [`boards.move ${team}`]: 'insufficient_scope',
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

test('narrowed to a team, no read and no event shows anything of another, not through what refers to it either', async () => {
  const made = async (body: object): Promise<Json> => (await app.call('POST', '/api/v1/issues', body)).json;
  const secret = await made({ team: 'OUT', title: 'hush, a secret', description: 'hush' });
  const marks = [
    'hush',
    secret.id,
    secret.identifier,
    place.OUT.issue,
    place.OUT.comment,
    place.OUT.template,
  ];
  // The reads that the plugin may make at all; what cannot be narrowed it does not ask for.
  const where = { why: 'test', where: { team: ['ENG'] } };
  const scopes = Object.fromEntries(
    ['issues', 'comments', 'attachments', 'cycles'].map((name) => [`${name}:read`, where]),
  );
  const reads = [...hostCallsOf(app.app.routes)].filter(
    ([, { isRead, route }]) => isRead && route.scope! in scopes,
  );
  expect(reads.length).toBeGreaterThan(12);
  const calls = ['ENG', 'OUT'].flatMap((team) => reads.map(([op]) => [op, argsOf(team)[op]]));
  const more = [
    ['issues.list', [{ sort: '-updatedAt', limit: 100 }]],
    ['issues.list', [{ filter: { q: 'hush' } }]],
    ['issues.list', [{ parent: secret.id }]],
    ['issues.list', [{ include: 'descriptionHtml' }]],
    ['search.query', [{ q: 'hush' }]],
    ['search.query', [{ q: 'secret', limit: 100 }]],
    ['issues.get', [secret.id]],
    ['issues.get', [secret.identifier]],
  ];
  const document = await packSource(
    `{
      id: 'com.test.peeks', version: '1.0.0', engines: { tatami: '*' }, scopes: ${JSON.stringify(scopes)},
      on: { ${['issue.created', 'issue.updated', 'comment.added'].map((type) => `'${type}': { handle: hear }`).join(', ')} },
      schedules: { peek: { cron: '0 3 * * *', limits: { cpuMs: 5000 }, handle: async (_, ctx) => {
        const found = [];
        let answered = 0;
        for (const [op, args] of ${JSON.stringify([...calls, ...more])}) {
          const [space, method] = op.split('.');
          const text = JSON.stringify(await ctx[space][method](...args).then((answer) => (answered++, answer), (error) => error.code));
          for (const mark of marks) if (text.includes(mark)) found.push([op, JSON.stringify(args), mark, text.slice(0, 2000)]);
        }
        await ctx.kv.set('found', found);
        await ctx.kv.set('answered', answered);
      } } },
    }`,
    `const marks = ${JSON.stringify(marks)};
     const hear = async (event, ctx) => {
       const text = JSON.stringify(event);
       for (const mark of marks) if (text.includes(mark)) await ctx.kv.set('heard-' + event.id, [event.type, mark, text]);
       await ctx.kv.increment('heard');
     };`,
  );
  const plugin = await install(app.call, document);
  const child = await made({ team: 'ENG', title: 'Child', parentId: secret.id });
  const beside = await made({ team: 'ENG', title: 'Beside' });
  const relation = await app.call('POST', `/api/v1/issues/${beside.id}/relations`, {
    type: 'relates_to',
    issueId: secret.id,
  });
  expect([child.id, relation.status]).toEqual([expect.any(String), 201]);
  await app.call('PATCH', `/api/v1/issues/${child.id}`, { priority: 'high' });
  await app.call('POST', `/api/v1/issues/${secret.id}/comments`, { body: 'hush' });
  await app.settled();
  place.ENG.issue = child.id;
  await app.call('POST', `/api/v1/plugins/${plugin.id}/schedules/peek/run`);
  await app.settled();
  const readKv = async (key: string): Promise<Json> =>
    (await app.call('GET', `/api/v1/plugins/${plugin.id}/kv/${key}`)).json.value;
  expect(await readKv('found')).toEqual([]);
  expect(await readKv('answered')).toBeGreaterThan(10);
  expect(await readKv('heard')).toBeGreaterThan(1);
  expect((await app.call('GET', `/api/v1/plugins/${plugin.id}/kv?prefix=heard-`)).json.data).toEqual([]);
});
