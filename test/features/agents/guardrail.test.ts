import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { bearerOf, signIn, type Person } from '../sign-in/person.ts';
import { bearer, connect, post, toolCall, type Agent } from './agents.ts';

let app: TestApp;
let agent: Agent;
let token: string;
/** The owner, in a browser. */
let person: Person;
beforeAll(async () => {
  app = await startApp();
  token = await app.mintKey(['issues:write', 'comments:write', 'proposals:read']);
  agent = await connect(app, token);
  person = await signIn(app);
});
afterAll(async () => {
  await agent.close();
  await app.stop();
});

const rest = async (method: string, path: string, body?: object): Promise<Json> =>
  (await app.call(method, `/api/v1${path}`, body)).json;
const own = async (title = 'Own'): Promise<Json> => agent.call('issues_create', { team: 'ENG', title });
const foreign = async (title = 'Of others'): Promise<Json> => rest('POST', '/issues', { team: 'ENG', title });
const issueNow = (id: string): Promise<Json> => rest('GET', `/issues/${id}`);
/** Returns the events after a sequence number, without notifications. */
const eventsAfter = async (after: number): Promise<string[]> =>
  (await app.eventTypes(after)).filter((type) => !/^(inbox|api_key)\./.test(type));
const last = async (): Promise<number> => {
  await app.settled();
  return app.lastSequence();
};

/** Submits a decision as the web app does, and returns the status. */
async function decide(id: string, decision: 'approve' | 'reject', body: object): Promise<number> {
  const call = app.clientOf(await bearerOf(app, person));
  return (await call('POST', `/api/v1/proposals/${id}/${decision}`, body)).status;
}
const approve = (id: string, revision = 1): Promise<number> => decide(id, 'approve', { revision });

test('an agent changes its own issues directly, and completing one requires approval', async () => {
  const issue = await own();
  expect(await agent.call('issues_update', { id: issue.id, priority: 'high' })).toMatchObject({
    status: 'done',
  });
  const from = await last();
  const proposed = await agent.call('issues_update', { id: issue.identifier, state: 'Done' });
  expect(proposed).toMatchObject({ status: 'proposed', url: `${app.url}/proposals/${proposed.proposalId}` });
  expect(proposed.diff).toMatchObject([
    {
      kind: 'issue',
      issue: issue.identifier,
      fields: [{ name: 'state', before: { name: 'Backlog' }, after: { name: 'Done' } }],
    },
  ]);
  expect((await issueNow(issue.id)).state.name).toBe('Backlog');
  expect(await eventsAfter(from)).toEqual(['automation.proposed']);
  expect(await agent.call('proposals_get', { id: proposed.proposalId })).toMatchObject({
    proposal: { status: 'open', through: { kind: 'api_key', name: 'test' } },
  });

  const before = await last();
  expect(await approve(proposed.proposalId)).toBe(200);
  expect((await issueNow(issue.id)).state.name).toBe('Done');
  expect((await eventsAfter(before)).sort()).toEqual([
    'automation.approved',
    'issue.state_changed',
    'issue.updated',
  ]);
  expect(await agent.call('proposals_get', { id: proposed.proposalId })).toMatchObject({
    proposal: { status: 'approved', decidedBy: { id: person.memberId } },
  });
});

/** Calls that must wait for approval. */
const tricks: Readonly<Record<string, () => Promise<[args: Json, tool?: string]>>> = {
  'a state by its name, in any case': async () => [{ id: (await own()).id, state: 'dOnE' }],
  'a state by its type': async () => [{ id: (await own()).id, state: 'completed' }],
  'a state by another spelling of its type': async () => [{ id: (await own()).id, state: 'cancelled' }],
  'a state by its id': async () => {
    const { data } = await rest('GET', '/workflows?team=ENG');
    return [{ id: (await own()).id, state: data.find(({ type }: Json) => type === 'canceled').id }];
  },
  'a completion beside a harmless change': async () => [
    { id: (await own()).id, title: 'x', state: 'Done', priority: 'low' },
  ],
  'an issue of another person': async () => [{ id: (await foreign()).id, priority: 'low' }],
  'an issue of another key of the same member': async () => {
    const second = await connect(app, await app.mintKey(['issues:write']));
    const { id } = await second.call('issues_create', { team: 'ENG', title: 'Of a second agent' });
    await second.close();
    return [{ id, priority: 'low' }];
  },
  'an issue that the agent assigns to itself': async () => {
    const issue = await foreign();
    const taken = await agent.call('issues_update', { id: issue.id, assigneeId: person.memberId });
    expect(taken.status).toBe('proposed');
    expect(await approve(taken.proposalId)).toBe(200);
    return [{ id: issue.id, priority: 'low' }];
  },
  'several own issues': async () => [{ ids: [(await own()).id, (await own()).id], addLabels: ['bug'] }],
  'an own issue together with one of another person': async () => [
    { ids: [(await own()).id, (await foreign()).id], priority: 'low' },
  ],
  'the deletion of an own issue': async () => [{ id: (await own()).id }, 'issues_delete'],
  'deleting several': async () => [{ ids: [(await own()).id, (await own()).id] }, 'issues_delete'],
};

test.each(Object.keys(tricks))('approval is required: %s', async (name) => {
  const [args, tool = 'issues_update'] = await tricks[name]!();
  const ids: string[] = args.ids ?? [args.id];
  const before = await Promise.all(ids.map(issueNow));
  const from = await last();
  expect(await agent.call(tool, args)).toMatchObject({ status: 'proposed' });
  expect(await Promise.all(ids.map(issueNow))).toEqual(before);
  expect(await eventsAfter(from)).toEqual(['automation.proposed']);
});

test('issues and comments created by an agent need no approval', async () => {
  const from = await last();
  await own();
  await agent.call('comments_add', { id: (await foreign()).id, body: 'Seen this before.' });
  expect(await eventsAfter(from)).toEqual(['issue.created', 'issue.created', 'comment.added']);
});

test('each message of one request is checked separately', async () => {
  const [mine, theirs] = [await own(), await foreign()];
  const batch = [
    toolCall('issues_update', { id: mine.id, priority: 'low' }, 1),
    toolCall('issues_update', { id: theirs.id, priority: 'low' }, 2),
    toolCall('issues_update', { id: mine.id, state: 'Done' }, 3),
  ];
  const { text } = await post(app, batch, bearer(token));
  const answers = [...text.matchAll(/^data: (\{.*\})$/gm)]
    .map(([, json]) => JSON.parse(json!))
    .sort((a, b) => a.id - b.id);
  expect(answers.map(({ result }) => result.structuredContent.status)).toEqual([
    'done',
    'proposed',
    'proposed',
  ]);
  expect([(await issueNow(mine.id)).priority, (await issueNow(mine.id)).state.name]).toEqual([
    'low',
    'Backlog',
  ]);
  expect((await issueNow(theirs.id)).priority).toBe('none');
});

test('a repeated call returns the same proposal, and another call with its idempotency key is rejected', async () => {
  const issue = await own();
  const args = { id: issue.id, state: 'Done', idempotency_key: 'finish-once' };
  const first = await agent.call('issues_update', args);
  expect(await agent.call('issues_update', args)).toEqual(first);
  expect(await agent.call('issues_update', { ...args, state: 'Canceled' })).toMatchObject({
    code: 'idempotency_key_reused',
  });
  expect(await approve(first.proposalId)).toBe(200);
  const version = (await issueNow(issue.id)).version;
  const from = await last();
  // Neither the call nor the approval applies the change twice.
  expect(await agent.call('issues_update', args)).toEqual(first);
  expect(await approve(first.proposalId)).toBe(409);
  // A waiting call returns at once if the decision already exists.
  const waits = agent.call('issues_update', { ...args, wait: 60 });
  const late = Bun.sleep(5_000).then(() => ({ status: 'late' }));
  expect(await Promise.race([waits, late])).toMatchObject({
    status: 'approved',
    proposalId: first.proposalId,
  });
  expect((await issueNow(issue.id)).version).toBe(version);
  expect(await eventsAfter(from)).toEqual([]);
});

test('only the shown change is approved, and a changed target is shown to the person again', async () => {
  const issue = await foreign('Moving');
  const { proposalId } = await agent.call('issues_update', { id: issue.id, title: 'Moved by the agent' });
  await rest('PATCH', `/issues/${issue.id}`, { title: 'Moved by a person' });
  expect(await approve(proposalId)).toBe(409);
  expect(await approve(proposalId)).toBe(409);
  expect((await issueNow(issue.id)).title).toBe('Moved by a person');
  expect(await approve(proposalId, 2)).toBe(200);
  expect((await issueNow(issue.id)).title).toBe('Moved by the agent');
});

test('a rejected change is never applied, and the agent gets the reason', async () => {
  const issue = await foreign();
  const { proposalId } = await agent.call('issues_update', { id: issue.id, title: 'Wrong' });
  expect(await decide(proposalId, 'reject', { reason: 'It is right as it is.' })).toBe(200);
  expect(await approve(proposalId)).toBe(409);
  expect((await issueNow(issue.id)).title).toBe('Of others');
  const { proposal } = await agent.call('proposals_get', { id: proposalId });
  expect([proposal.status, proposal.reason]).toEqual(['rejected', 'It is right as it is.']);
});

/** Waits for a new proposal and returns its id. */
async function nextProposal(known: number): Promise<string> {
  for (;;) {
    const { data } = await rest('GET', '/proposals?limit=100');
    if (data.length > known) return data[0].id;
    await Bun.sleep(5);
  }
}

test('a call waits for the decision, and ends at its timeout', async () => {
  const issue = await foreign();
  const known = (await rest('GET', '/proposals?limit=100')).data.length;
  const waiting = agent.call('issues_update', { id: issue.id, priority: 'urgent', wait: 60 });
  expect(await approve(await nextProposal(known))).toBe(200);
  expect(await waiting).toMatchObject({ status: 'approved' });

  const { proposalId } = await agent.call('issues_update', { id: issue.id, title: 'Later' });
  const asking = agent.call('proposals_get', { id: proposalId, wait: 30 });
  const decided = asking.then(() => true);
  while (!(await Promise.race([decided, Bun.sleep(5)]))) app.clock.advance(10_000);
  expect((await asking).proposal.status).toBe('open');
});

test('a client that can open pages gets the URL of the proposal, and repeats the call', async () => {
  const openedUrls: string[] = [];
  const capable = await connect(app, token, 'current', { capabilities: { elicitation: { url: {} } } });
  capable.client.setRequestHandler('elicitation/create', async ({ params }: Json) => {
    openedUrls.push(params.url);
    await approve(params.url.split('/').at(-1));
    return { action: 'accept' };
  });
  const issue = await foreign();
  const answer = await capable.call('issues_update', { id: issue.id, title: 'Seen', wait: 30 });
  expect(answer).toMatchObject({ status: 'approved' });
  expect(openedUrls).toEqual([answer.url]);
  expect((await issueNow(issue.id)).title).toBe('Seen');
  await capable.close();
});

test('a person who closes the page of a proposal ends the wait', async () => {
  for (const action of ['decline', 'cancel']) {
    const capable = await connect(app, token, 'current', { capabilities: { elicitation: { url: {} } } });
    capable.client.setRequestHandler('elicitation/create', () => ({ action }));
    const issue = await foreign();
    const answer = capable.call('issues_update', { id: issue.id, title: 'Closed', wait: 60 });
    const late = Bun.sleep(3_000).then(() => ({ status: 'late' }));
    expect(await Promise.race([answer, late])).toMatchObject({ status: 'proposed' });
    await capable.close();
  }
});

/** A call in the current protocol version, by a client that can open pages. */
function sealedCall(args: object, state: string | null): [message: object, headers: Record<string, string>] {
  const version = '2026-07-28';
  const about = 'io.modelcontextprotocol/';
  const envelope = {
    [`${about}protocolVersion`]: version,
    [`${about}clientInfo`]: { name: 'raw', version: '1' },
    [`${about}clientCapabilities`]: { elicitation: { url: {} } },
  };
  const params = { name: 'issues_update', arguments: args, _meta: envelope };
  const again =
    state === null ? {} : { requestState: state, inputResponses: { decision: { action: 'accept' } } };
  return [
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, ...again } },
    { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'issues_update' },
  ];
}

test('the returned state of a pending call must be unchanged and from the same caller, and starts no other call', async () => {
  const ask = async (by: string, args: object, state: string | null): Promise<Json> => {
    const [message, headers] = sealedCall(args, state);
    return JSON.parse((await post(app, message, { ...headers, ...bearer(by) })).text);
  };
  const issue = await foreign();
  const other = await foreign('Another');
  const { result } = await ask(token, { id: issue.id, title: 'Once', wait: 1 }, null);
  expect(result).toMatchObject({
    resultType: 'input_required',
    inputRequests: { decision: { method: 'elicitation/create' } },
  });
  const state: string = result.requestState;
  const from = await last();
  const waiting = { id: issue.id, title: 'Once', wait: 0 };
  expect(
    (await ask(token, { ...waiting, id: other.id, title: 'Swapped' }, state)).result.structuredContent,
  ).toMatchObject({ status: 'proposed' });
  const forged = [
    `${state.slice(0, -2)}xx`,
    state.replace(/^[^.]*/, btoa('["prp_01m7wd7tg001bvq8r5bjgt6mjc",0]')),
  ];
  for (const one of forged) expect((await ask(token, waiting, one)).error.code).toBe(-32602);
  const second = await app.mintKey(['issues:write']);
  expect((await ask(second, waiting, state)).error.code).toBe(-32602);
  expect(await eventsAfter(from)).toEqual([]);
  expect((await issueNow(other.id)).title).toBe('Another');
});

test('an admin sets which actions need approval, and an empty list allows agents everything', async () => {
  const theirs = await foreign();
  expect((await rest('GET', '/workspace')).guarded).toEqual(['delete', 'bulk', 'finish', 'others']);
  await rest('PATCH', '/workspace', { guarded: ['delete'] });
  expect(await agent.call('issues_update', { id: theirs.id, state: 'Done' })).toMatchObject({
    status: 'done',
  });
  expect(await agent.call('issues_delete', { id: theirs.id })).toMatchObject({ status: 'proposed' });
  await rest('PATCH', '/workspace', { guarded: [] });
  expect(await agent.call('issues_delete', { id: theirs.id })).toEqual({ status: 'done' });
  const { json } = await app.call('PATCH', '/api/v1/workspace', { guarded: ['everything'] });
  expect(json.error.details[0]).toMatchObject({ issue: 'invalid_enum' });
  await rest('PATCH', '/workspace', { guarded: ['delete', 'bulk', 'finish', 'others'] });
  const { id } = await rest('POST', '/members', { name: 'Mo', email: 'mo@acme.example', role: 'member' });
  const key = await rest('POST', '/api-keys', { name: 'mo', memberId: id, scopes: ['workspace:write'] });
  const refused = await app.clientOf(key.key)('PATCH', '/api/v1/workspace', { guarded: [] });
  expect(refused.json.error.code).toMatch(/forbidden|insufficient_scope/);
});
