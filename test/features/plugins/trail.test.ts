// The trail of an issue through the API: the causes of its state as a tree from the root event.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../../cli/tatami.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
let issue: Json;
let plugin: Json;

const reacting = (id: string, on: string, does: string) =>
  `{ id: '${id}', name: '${id.slice(9)}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes}, on: { '${on}': { handle: async (event, ctx) => { ${does} } } } }`;

beforeAll(async () => {
  app = await startApp();
  const { call } = app;
  plugin = await install(
    call,
    await packSource(
      reacting(
        'com.test.sorts',
        'issue.created',
        `if (event.data.title === 'Why') await ctx.issues.update(event.data.id, { priority: 'high' });`,
      ),
    ),
  );
  await install(
    call,
    await packSource(
      reacting(
        'com.test.tells',
        'issue.updated',
        `if (event.data.priority === 'high') await ctx.comments.create(event.data.id, { body: 'pressing' });`,
      ),
    ),
  );
  const team = (await call('GET', '/api/v1/teams')).json.data[0].key;
  issue = (await call('POST', '/api/v1/issues', { team, title: 'Why' })).json;
  await app.settled();
});
afterAll(() => app.stop());

const trail = async (query = '', client = app.call): Promise<Json> => {
  const { status, json } = await client('GET', `/api/v1/issues/${issue.id}/trail${query}`);
  expect({ status, error: json.error }).toEqual({ status: 200, error: undefined });
  return json;
};

/** Nodes as lines, indented by their depth. */
const drawn = (nodes: Json[]): string[] => {
  const depth = ({ parentId }: Json): number =>
    parentId === null ? 0 : 1 + depth(nodes.find(({ id }) => id === parentId));
  return nodes.map(
    (node) =>
      `${'  '.repeat(depth(node))}${node.type ?? node.run?.plugin ?? node.proposal?.status ?? node.kind}`,
  );
};

test('a chain of two plugins is one tree under its root event', async () => {
  const { data, pageInfo } = await trail();
  expect(data.map(({ nodes }: Json) => drawn(nodes))).toEqual([
    ['issue.created', '  sorts', '    issue.updated', '      tells', '        comment.added'],
  ]);
  expect(pageInfo).toMatchObject({ hasNextPage: false, leftOut: [], setBy: null });
  const [, run, updated] = data[0].nodes;
  expect(run.run).toMatchObject({
    version: '1.0.0',
    status: 'succeeded',
    handler: 'issue.created',
    calls: { 'issues.update': 1 },
    effects: 1,
  });
  expect(updated.fields).toContainEqual({ field: 'priority', from: 'none', to: 'high' });
});

test('a field is traced from the event that set it to the root', async () => {
  const { data, pageInfo } = await trail('?field=priority');
  const [created, run, updated] = data[0].nodes;
  expect(pageInfo.setBy).toEqual({
    field: 'priority',
    eventId: updated.id,
    chain: [updated.id, run.id, created.id],
  });
  expect((await trail('?field=title')).pageInfo.setBy.chain).toEqual([created.id]);
  const wrong = await app.call('GET', `/api/v1/issues/${issue.id}/trail?field=nope`);
  expect(wrong.status).toBe(422);
});

test('an undo is marked in its place, and pages consist of whole roots', async () => {
  const [run] = (await app.call('GET', `/api/v1/plugins/${plugin.id}/runs`)).json.data;
  await app.call('POST', `/api/v1/runs/${run.id}/undo`);
  await app.call('PATCH', `/api/v1/issues/${issue.id}`, { title: 'By hand' });
  await app.settled();
  const first = await trail('?limit=1');
  expect(first.data.map(({ nodes }: Json) => drawn(nodes))).toEqual([['issue.updated', '  tells']]);
  expect(first.pageInfo.hasNextPage).toBe(true);
  const second = await trail(`?limit=1&after=${encodeURIComponent(first.pageInfo.endCursor)}`);
  const nodes: Json[] = second.data[0].nodes;
  expect(nodes.find(({ id }) => id === run.id).run.undoneBy).toStartWith('und_');
  const undo = nodes.find(({ kind }) => kind === 'undo');
  expect(undo).toMatchObject({
    parentId: run.id,
    id: nodes.find(({ id }) => id === run.id).run.undoneBy,
    undo: { undid: [run.id], changed: 1, skipped: 0 },
  });
  const back = nodes.find(({ isUndo, type }) => isUndo && type === 'issue.updated');
  expect(back).toMatchObject({ parentId: undo.id });
  expect(back.fields).toContainEqual({ field: 'priority', from: 'high', to: 'none' });
});

test('nodes without read permission are omitted and reported as omitted', async () => {
  const key = await app.mintKey(['issues:read']);
  const narrow = app.clientOf(key);
  const { data, pageInfo } = await trail('', narrow);
  expect(pageInfo.leftOut).toEqual(['plugins:read', 'proposals:read', 'webhooks:read']);
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: key };
  const { err } = await tatami(['issues', 'trail', issue.identifier, '--json'], remote);
  expect(err).toContain('this key lacks plugins:read and proposals:read and webhooks:read.');
  const nodes: Json[] = data.at(-1).nodes;
  expect(nodes.map(({ type }) => type)).not.toContain('comment.added');
  expect(nodes.find(({ run }) => run).run).toMatchObject({
    plugin: 'sorts',
    status: 'succeeded',
    calls: null,
    handler: null,
  });
});

test('a proposal is below its run and above its result, with its approver, and the run shows its version', async () => {
  const { call } = app;
  const source = (version: string) =>
    packSource(`{ id: 'com.test.asks', name: 'asks', version: '${version}', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
      on: { 'issue.created': { handle: ({ data }, ctx) => ctx.issues.update(data.id, { priority: 'low' }), filter: { title: 'ask' } } } }`);
  await install(call, await source('1.0.0'), { mode: 'propose', modes: {} });
  app.clock.advance(1_000);
  const team = (await call('GET', '/api/v1/teams')).json.data[0].key;
  const { json: created } = await call('POST', '/api/v1/issues', { team, title: 'ask' });
  await app.settled();
  app.clock.advance(1_000);
  await install(call, await source('2.0.0'), { mode: 'propose', modes: {} });
  const [{ proposalId }] = (await call('GET', '/api/v1/plugins/com.test.asks/runs')).json.data;
  const { json: approved } = await call('POST', `/api/v1/proposals/${proposalId}/approve`, {});
  expect(approved.error).toBe(undefined);
  const { json: undone } = await call('POST', `/api/v1/proposals/${proposalId}/undo`, {});
  await app.settled();
  const { data } = (await call('GET', `/api/v1/issues/${created.id}/trail`)).json;
  const nodes: Json[] = data[0].nodes;
  const proposal = nodes.find(({ id }) => id === proposalId);
  expect(proposal.proposal).toMatchObject({
    status: 'approved',
    decidedBy: approved.decidedBy.name,
    undoneBy: undone.id,
  });
  const asks = nodes.find(({ id }) => id === proposal.parentId);
  expect(asks.run).toMatchObject({ plugin: 'asks', version: '1.0.0' });
  const below = (parent: string) =>
    nodes.filter(({ parentId }) => parentId === parent).map(({ type, kind }) => type ?? kind);
  expect(below(proposalId)).toEqual(['automation.proposed', 'issue.updated', 'automation.approved', 'undo']);
  expect(below(undone.id)).toEqual(['issue.updated']);
});

test('the approval of a requested proposal is above its changes', async () => {
  const { call } = app;
  const { json: member } = await call('POST', '/api/v1/members', {
    ...{ name: 'Ada', email: 'ada@example.com', role: 'member' },
  });
  const { json: minted } = await call('POST', '/api/v1/api-keys', {
    ...{ name: 'agent', memberId: member.id, scopes: ['issues:read', 'proposals:write'] },
  });
  await call('POST', '/api/v1/labels', { name: 'soon' });
  const { json: proposed } = await app.clientOf(minted.key)(
    'PATCH',
    `/api/v1/issues/${issue.id}`,
    { dueDate: '2026-12-24', addLabels: ['soon'] },
    { 'tatami-mode': 'propose' },
  );
  await call('POST', `/api/v1/proposals/${proposed.id}/approve`, {});
  await app.settled();
  const nodes: Json[] = (await trail('?field=dueDate')).data[0].nodes;
  const event = nodes.find(({ type }) => type === 'issue.updated');
  // The person, not the name of their key.
  expect(event).toMatchObject({ parentId: proposed.id, actor: 'Ada' });
  expect(nodes.find(({ id }) => id === proposed.id).proposal.status).toBe('approved');

  // One commit is one line of one tree, with any number of events, and so is its undo.
  await call('POST', `/api/v1/proposals/${proposed.id}/undo`, {});
  await app.settled();
  const [newest, before] = (await trail('?limit=2')).data;
  expect(drawn(newest.nodes)).toEqual([
    'approved',
    '  automation.proposed',
    '  issue.updated',
    '    tells',
    '  automation.approved',
    '  undo',
    '    issue.updated',
    '      tells',
  ]);
  const changes: Json[] = newest.nodes.filter(({ type }: Json) => type === 'issue.updated');
  expect(changes.map(({ types }) => types)).toEqual(Array(2).fill(['issue.updated', 'issue.labeled']));
  expect(changes[0].fields.map(({ field }: Json) => field).toSorted()).toEqual(['dueDate', 'labels']);
  expect(before.nodes.map(({ id }: Json) => id)).not.toContain(proposed.id);
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  const { out } = await tatami(['issues', 'trail', issue.identifier, '--limit', '1'], remote);
  expect(out).toMatch(/issue\.updated, issue\.labeled by Ada  .*labels: \[\] → \[soon\]/);
});

test('a recomputed proposal shows its revision', async () => {
  const { call } = app;
  const { json: created } = await call('POST', '/api/v1/issues', { team: 'ENG', title: 'ask' });
  await app.settled();
  const [{ proposalId }] = (await call('GET', '/api/v1/plugins/com.test.asks/runs')).json.data;
  await call('PATCH', `/api/v1/issues/${created.id}`, { priority: 'urgent' });
  expect((await call('POST', `/api/v1/proposals/${proposalId}/approve`, {})).status).toBe(409);
  await app.settled();
  const { data } = (await call('GET', `/api/v1/issues/${created.id}/trail`)).json;
  const updates = data
    .flatMap(({ nodes }: Json) => nodes)
    .filter(({ type }: Json) => type === 'automation.proposed');
  expect(updates.map(({ fields }: Json) => fields)).toEqual([[], [{ field: 'revision', from: 1, to: 2 }]]);
});

test('an event names its attachment, or the other issue of its relation only to those who can see that issue', async () => {
  const { call } = app;
  const { json: team } = await call('POST', '/api/v1/teams', { name: 'Secret', key: 'SEC' });
  const create = async (path: string, body: object): Promise<Json> => {
    const { status, json } = await call('POST', `/api/v1/${path}`, body);
    expect({ path, status, error: json.error }).toEqual({ path, status: 201, error: undefined });
    return json;
  };
  const open = await create('issues', { team: 'ENG', title: 'Open' });
  const seen = await create('issues', { team: 'ENG', title: 'Seen' });
  const hidden = await create('issues', { team: team.key, title: 'Hidden' });
  const { id } = await create(`issues/${open.id}/relations`, { type: 'blocks', issueId: seen.id });
  await create(`issues/${open.id}/relations`, { type: 'relates_to', issueId: hidden.id });
  await create(`issues/${open.id}/attachments`, { title: 'Crash report', url: 'https://acme.example/1' });
  await call('DELETE', `/api/v1/relations/${id}`);
  const namesFor = async (client: Client, of = open): Promise<Json> =>
    (await client('GET', `/api/v1/issues/${of.id}/trail`)).json.data
      .toReversed()
      .flatMap(({ nodes }: Json) => nodes)
      .filter(({ type }: Json) => /relation|attachment/.test(type ?? ''))
      .map(({ type, name }: Json) => [type, name]);
  const own = [
    ['issue.relation_added', `blocks ${seen.identifier}`],
    ['issue.attachment_added', 'Crash report'],
    ['issue.relation_removed', `blocks ${seen.identifier}`],
  ];
  const toHidden = ['issue.relation_added', `relates to ${hidden.identifier}`];
  expect(await namesFor(call)).toEqual(own.toSpliced(1, 0, toHidden));
  expect(await namesFor(call, seen)).toEqual([
    ['issue.relation_added', `blocked by ${open.identifier}`],
    ['issue.relation_removed', `blocked by ${open.identifier}`],
  ]);
  const guest = await create('members', { name: 'Gil', role: 'guest', teams: ['ENG'] });
  const { key } = await create('api-keys', { name: 'gil', memberId: guest.id, scopes: ['issues:read'] });
  expect(await namesFor(app.clientOf(key))).toEqual(own);
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  const { out } = await tatami(['issues', 'trail', open.identifier], remote);
  expect(out).toMatch(new RegExp(`issue\\.relation_added by .*  blocks ${seen.identifier}$`, 'm'));
  expect(out).toMatch(/issue\.attachment_added by .*  Crash report$/m);
});
