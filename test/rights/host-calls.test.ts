import { afterAll, beforeAll, expect, test } from 'bun:test';
import { hostCallsOf } from '../../core/features/plugins/host-calls/gateway.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';

let app: TestApp;
const fixtures: Record<string, Json> = {};

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
    fixtures[team] = {
      ...{ issue: issue.id, comment: comment.id, other: other.id, template: template.id },
      ...{
        relation: await related('blocks'),
        doomed: await related('relates_to'),
        cycle: cycle.id,
        reaction: reaction.id,
      },
    };
  }
  fixtures.board = (await app.call('POST', '/api/v1/boards', { name: 'All' })).json;
  fixtures.view = (await app.call('POST', '/api/v1/views', { name: 'All', visibility: 'shared' })).json;
  fixtures.project = (await app.call('POST', '/api/v1/projects', { name: 'Spring' })).json;
  const below = `/api/v1/projects/${fixtures.project.id}`;
  fixtures.milestone = (await app.call('POST', `${below}/milestones`, { name: 'Beta' })).json;
  fixtures.member = (await app.call('POST', '/api/v1/members', { name: 'Ben' })).json;
  fixtures.pipeline = (await app.call('POST', '/api/v1/pipelines', { name: 'Editor' })).json;
  const release = { name: 'Spring', tag: '1', pipelineId: fixtures.pipeline.id };
  fixtures.release = (await app.call('POST', '/api/v1/releases', release)).json;
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
/** Additional scopes in other namespaces that calls need. */
const also: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...['boards.cards', 'boards.move', 'cycles.progress', 'projects.progress'],
    ...['releases.issuesAdd', 'releases.issuesRemove'],
  ].map((op) => [op, 'issues']),
);

/** Arguments of each host call, on objects of a team. */
const argsOf = (team: string): Record<string, unknown[]> => ({
  'issues.get': [fixtures[team].issue],
  'issues.list': [{ team }],
  'issues.create': [{ team, title: 'made' }],
  'issues.update': [fixtures[team].issue, { priority: 'high' }],
  'issues.move': [fixtures[team].issue, { team }],
  'relations.list': [fixtures[team].issue],
  'relations.get': [fixtures[team].relation],
  'relations.create': [fixtures[team].other, { type: 'relates_to', issueId: fixtures[team].issue }],
  'relations.delete': [fixtures[team].doomed],
  'templates.list': [{}],
  'templates.get': [fixtures[team].template],
  'comments.list': [fixtures[team].issue],
  'comments.create': [fixtures[team].issue, { body: 'made' }],
  'comments.resolve': [fixtures[team].comment],
  'attachments.list': [fixtures[team].issue],
  'attachments.create': [fixtures[team].issue, { title: 'made', url: 'https://example.com' }],
  'cycles.get': [fixtures[team].cycle],
  'cycles.list': [{ team }],
  'cycles.progress': [fixtures[team].cycle],
  'comments.get': [fixtures[team].comment],
  'comments.update': [fixtures[team].comment, { body: 'after' }],
  'reactions.list': [fixtures[team].comment],
  'reactions.create': [fixtures[team].comment, { emoji: 'heart' }],
  'reactions.listOnIssue': [fixtures[team].issue],
  'reactions.createOnIssue': [fixtures[team].issue, { emoji: 'heart' }],
  'reactions.delete': [fixtures[team].reaction],
  'subscribers.list': [fixtures[team].issue],
  'subscribers.add': [fixtures[team].issue, fixtures.member.id],
  'search.query': [{ q: `${team} before` }],
  'labels.list': [{}],
  'fields.list': [{}],
  'boards.get': [fixtures.board.id],
  'boards.list': [{}],
  'boards.cards': [fixtures.board.id],
  'boards.move': [fixtures.board.id, { issueId: fixtures[team].issue, column: 'Todo' }],
  'views.get': [fixtures.view.id],
  'views.list': [{}],
  'projects.get': [fixtures.project.id],
  'projects.list': [{}],
  'projects.create': [{ name: 'made' }],
  'projects.update': [fixtures.project.id, { status: 'started' }],
  'projects.progress': [fixtures.project.id],
  'project-updates.list': [fixtures.project.id],
  'project-updates.create': [fixtures.project.id, { health: 'on_track', body: 'made' }],
  'milestones.get': [fixtures.milestone.id],
  'milestones.list': [fixtures.project.id],
  'milestones.create': [fixtures.project.id, { name: 'made' }],
  'milestones.update': [fixtures.milestone.id, { description: 'made' }],
  'pipelines.list': [{}],
  'releases.get': [fixtures.release.id],
  'releases.list': [{}],
  'releases.create': [{ name: 'made', tag: `made for ${team}`, pipelineId: fixtures.pipeline.id }],
  'releases.update': [fixtures.release.id, { notes: 'made' }],
  'releases.issuesAdd': [fixtures.release.id, { issueIds: [fixtures[team].issue] }],
  'releases.issuesRemove': [fixtures.release.id, { issueIds: [fixtures[team].issue] }],
  'releases.publish': [fixtures.release.id],
});

/**
 * Installs a plugin that makes every host call on objects of both teams and stores each result. Each call has
 * its own run, because a run makes at most a hundred calls.
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
    // A call that proposes leaves the run proposed.
    const isEnded = ['succeeded', 'proposed'].includes(run.status);
    expect([id, team, isEnded, run.error]).toEqual([id, team, true, null]);
    Object.assign(ends, (await app.call('GET', `/api/v1/plugins/${plugin.id}/kv/ends-${team}`)).json.value);
  }
  await app.call('DELETE', `/api/v1/plugins/${plugin.id}`);
  return ends;
}

const declared = Object.fromEntries(tracker.map((name) => [`${name}:write`, { why: 'test' }]));
/** Returns the calls that need a scope of a namespace. */
const opsOf = (namespace: string): string[] =>
  [...hostCallsOf(app.app.routes)]
    .filter(([, { route }]) => route.scope!.startsWith(`${namespace}:`))
    .map(([op]) => op);

test('each host call without its scope is rejected, and calls of other namespaces succeed', async () => {
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

test('narrowed to a team, no host call reads or writes objects of another', async () => {
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
    'subscribers.add OUT': 'not_found',
    'search.query ENG': 'ok true',
    'search.query OUT': 'ok false',
  });
}, 60_000);

test('narrowed to fields, every host call that writes another field is rejected', async () => {
  const scopes = {
    ...declared,
    'issues:write': { why: 'test', fields: ['priority'] },
    'comments:write': { why: 'test', fields: ['resolvedAt'] },
  };
  const back = `/api/v1/boards/${fixtures.board.id}/move`;
  for (const team of ['ENG', 'OUT'])
    await app.call('POST', back, { issueId: fixtures[team].issue, column: 'Done' });
  const ends = await tryAll('com.test.fields', scopes, Object.keys(scopes));
  for (const team of ['ENG', 'OUT'])
    expect(ends).toMatchObject({
      [`issues.get ${team}`]: 'ok',
      [`issues.create ${team}`]: 'insufficient_scope',
      [`issues.update ${team}`]: 'ok',
      [`comments.create ${team}`]: 'insufficient_scope',
      [`comments.list ${team}`]: 'ok true',
      [`boards.move ${team}`]: 'insufficient_scope',
      [`subscribers.add ${team}`]: 'insufficient_scope',
    });
}, 60_000);

test('narrowed to a team, a plugin receives events of that team only', async () => {
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

test('narrowed to a team, no read and no event reveals another team, also not by references', async () => {
  const createIssue = async (body: object): Promise<Json> =>
    (await app.call('POST', '/api/v1/issues', body)).json;
  const secret = await createIssue({ team: 'OUT', title: 'hush, a secret', description: 'hush' });
  const marks = [
    'hush',
    secret.id,
    secret.identifier,
    fixtures.OUT.issue,
    fixtures.OUT.comment,
    fixtures.OUT.template,
  ];
  // The reads available to the plugin, without scopes that cannot be narrowed.
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
  const child = await createIssue({ team: 'ENG', title: 'Child', parentId: secret.id });
  const beside = await createIssue({ team: 'ENG', title: 'Beside' });
  const relation = await app.call('POST', `/api/v1/issues/${beside.id}/relations`, {
    type: 'relates_to',
    issueId: secret.id,
  });
  expect([child.id, relation.status]).toEqual([expect.any(String), 201]);
  await app.call('PATCH', `/api/v1/issues/${child.id}`, { priority: 'high' });
  await app.call('POST', `/api/v1/issues/${secret.id}/comments`, { body: 'hush' });
  await app.settled();
  fixtures.ENG.issue = child.id;
  await app.call('POST', `/api/v1/plugins/${plugin.id}/schedules/peek/run`);
  await app.settled();
  const readKv = async (key: string): Promise<Json> =>
    (await app.call('GET', `/api/v1/plugins/${plugin.id}/kv/${key}`)).json.value;
  expect(await readKv('found')).toEqual([]);
  expect(await readKv('answered')).toBeGreaterThan(10);
  expect(await readKv('heard')).toBeGreaterThan(1);
  expect((await app.call('GET', `/api/v1/plugins/${plugin.id}/kv?prefix=heard-`)).json.data).toEqual([]);
});
