// Each event type in `decided` can be subscribed to, filtered and sampled, and plugins can call each part of
// the tracker.
import { expect, test } from 'bun:test';
import { EVENT_TYPES } from '../../sdk/generated/events.ts';
import type { Json, Reply } from '../app.ts';
import { install, packSource } from './plugins/pack.ts';
import { hooksOfFile } from './webhooks/receiver.ts';

/** The event types that docs/spec specifies. */
const decided: Readonly<Record<string, string>> = {
  issue:
    'created updated state_changed assigned labeled moved deleted restored relation_added relation_removed attachment_added attachment_removed triage_accepted triage_declined',
  comment: 'added updated deleted resolved unresolved',
  reaction: 'added removed',
  project: 'created updated update_posted archived',
  milestone: 'completed',
  cycle: 'created started completed',
  release: 'created published rolled_back',
  sla: 'started at_risk breached met',
  inbox: 'item_created item_read item_archived',
  plugin: 'installed updated disabled',
  webhook: 'created updated deleted disabled secret_rotated ping',
  label: 'created updated deleted',
  workflow: 'state_created state_updated state_deleted',
  team: 'created updated',
  member: 'added updated removed',
  api_key: 'created revoked',
  automation: 'run failed proposed approved rejected',
};
const types = Object.entries(decided).flatMap(([namespace, names]) =>
  names.split(' ').map((name) => `${namespace}.${name}`),
);

const { hooks, receiver } = await hooksOfFile();

const simulated = { 'tatami-mode': 'simulate' };
const hookOn = (events: string[], more: object = {}): Promise<Reply> =>
  hooks.call('POST', '/api/v1/webhooks', { url: receiver.url, events, ...more }, simulated);

test('every specified event type is emitted, has a sample, and can be subscribed to', async () => {
  expect(types.filter((type) => !(EVENT_TYPES as readonly string[]).includes(type))).toEqual([]);
  for (const type of EVENT_TYPES) {
    const sample = await hooks.call('POST', '/api/v1/events/samples', { type });
    const hook = await hookOn([type]);
    expect([type, sample.status, hook.status]).toEqual([type, 200, 201]);
  }
  for (const namespace of Object.keys(decided))
    expect([namespace, (await hookOn([`${namespace}.*`])).status]).toEqual([namespace, 201]);
});

test('subscriptions to every event type are matched by the fields of its data', async () => {
  for (const type of EVENT_TYPES) {
    // Events without an object have no `createdAt`.
    const filter = /^system|^automation|card_moved|preferences/.test(type)
      ? {}
      : { createdAt: { gte: '2020-01-01' } };
    expect([type, (await hookOn([type], { filter })).status]).toEqual([type, 201]);
  }
  for (const [type, filter, detail] of [
    ['sla.breached', { kind: 'resolution' }, null],
    ['cycle.started', { team: 'ENG' }, null],
    ['release.published', { status: 'published' }, null],
    ['project.updated', { health: 'at_risk' }, null],
    ['board.updated', { team: 'ENG' }, null],
    ['reaction.added', { emoji: '🚀' }, null],
    ['inbox.item_created', { reason: 'assigned' }, null],
    ['reaction.added', { mood: 'good' }, 'filter.mood unknown_field'],
    ['board.updated', { team: 'NONE' }, 'filter.team not_found'],
    ['project.updated', { colour: 'red' }, 'filter.colour unknown_field'],
    ['cycle.started', { team: 'NONE' }, 'filter.team not_found'],
    ['release.published', { status: 'out' }, 'filter.status invalid_enum'],
  ] as const) {
    const { status, json } = await hookOn([type], { filter });
    const [first] = json.error?.details ?? [];
    expect([type, filter, first ? `${first.path} ${first.issue}` : null]).toEqual([type, filter, detail]);
    expect(status).toBe(detail === null ? 201 : 422);
  }
});

test('a plugin uses boards, cycles, releases, search, reactions and relations under their scopes', async () => {
  const create = async (path: string, body: object): Promise<Json> => {
    const { status, json, text } = await hooks.call('POST', `/api/v1${path}`, body);
    expect([path, status < 300, text]).toEqual([path, true, text]);
    return json;
  };
  const board = await create('/boards', { name: 'Now', team: 'ENG' });
  const span = { startsAt: '2031-03-03T00:00:00Z', endsAt: '2031-03-17T00:00:00Z' };
  const cycle = await create('/cycles', { team: 'ENG', ...span });
  const pipeline = await create('/pipelines', { name: 'App', stages: ['Out'] });
  const release = await create('/releases', { name: 'One', tag: '1.0.0', pipelineId: pipeline.id });
  const { id: part } = await create('/issues', { team: 'ENG', title: 'Brakes squeak' });
  const scopes = (access: 'read' | 'write'): string =>
    ['boards', 'cycles', 'releases', 'issues', 'comments']
      .map((path) => `'${path}:${path === 'cycles' ? 'read' : access}': { why: 'test' }`)
      .join(', ');
  const plugin = (id: string, granted: string, handle: string) =>
    packSource(`{ id: '${id}', version: '1.0.0', engines: { tatami: '*' }, scopes: { ${granted} },
      on: { 'issue.created': { async handle({ data }, ctx) { ${handle} } } } }`);
  await install(
    hooks.call,
    await plugin(
      'com.test.whole',
      scopes('write'),
      `const found = await ctx.search.query({ q: 'squeak' });
       const { columns } = await ctx.boards.cards('${board.id}', { perColumn: 5 });
       const cycle = await ctx.cycles.get('${cycle.id}');
       const release = await ctx.releases.get('${release.id}');
       await ctx.reactions.createOnIssue(data.id, { emoji: 'eyes' });
       await ctx.relations.create(data.id, { type: 'blocks', issueId: '${part}' });
       await ctx.boards.move('${board.id}', { issueId: data.id, column: 'In Progress' });
       await ctx.releases.update('${release.id}', { name: [found.data.length, columns.length > 0, cycle.name, release.name].join(' ') });`,
    ),
  );
  const narrow = `for (const call of [
      () => ctx.boards.list(), () => ctx.cycles.list(), () => ctx.releases.list(), () => ctx.reactions.listOnIssue(data.id),
      () => ctx.relations.create(data.id, { type: 'blocks', issueId: '${part}' }),
    ]) try { await call(); ctx.log.info('answered'); } catch (error) { ctx.log.info(error.code ?? error.name); }`;
  await install(hooks.call, await plugin('com.test.narrow', `'issues:read': { why: 'test' }`, narrow));
  const from = await hooks.app.lastSequence();
  const { id } = await create('/issues', { team: 'ENG', title: 'Whole' });
  await hooks.app.settled();
  const runs = await hooks.call('GET', '/api/v1/plugins/com.test.whole/runs');
  expect(runs.json.data.map(({ status, error }: Json) => [status, error])).toEqual([['succeeded', null]]);
  const events = await hooks.app.eventTypes(from);
  for (const type of [
    'reaction.added',
    'issue.relation_added',
    'board.card_moved',
    'issue.state_changed',
    'release.updated',
  ])
    expect(events).toContain(type);
  expect((await hooks.call('GET', `/api/v1/issues/${id}`)).json.state.name).toBe('In Progress');
  expect((await hooks.call('GET', `/api/v1/releases/${release.id}`)).json.name).toBe('1 true Cycle 1 One');
  const [{ id: run }] = (await hooks.call('GET', '/api/v1/plugins/com.test.narrow/runs')).json.data;
  const { json } = await hooks.call('GET', `/api/v1/runs/${run}`);
  // A call without its scope is rejected with the name of the scope.
  expect(json.logs.map(({ message }: Json) => message)).toEqual(Array(5).fill('insufficient_scope'));
});
