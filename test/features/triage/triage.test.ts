import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type Reply, type TestApp } from '../../app.ts';

let app: TestApp;
let guest: Client;
let states: Record<string, string>;
beforeAll(async () => {
  app = await startApp();
  const all: Json[] = (await app.call('GET', '/api/v1/workflows?team=ENG')).json.data;
  states = Object.fromEntries(all.map(({ type, id }) => [type, id]));
  const { json } = await app.call('POST', '/api/v1/members', {
    name: 'Visitor',
    role: 'guest',
    teams: ['ENG'],
  });
  const key = { name: 'visitor', memberId: json.id, scopes: ['issues:write'] };
  guest = app.clientOf((await app.call('POST', '/api/v1/api-keys', key)).json.key);
});
afterAll(() => app.stop());

const make = async (more: object = {}, call: Client = app.call): Promise<Json> => {
  const created = await call('POST', '/api/v1/issues', { team: 'ENG', title: 'Incoming', ...more });
  return (await app.call('GET', `/api/v1/issues/${created.json.id}`)).json;
};
const inTriage = (): Promise<Json> => make({ stateId: states.triage });
const triage = (id: string, verb: string, body: object = {}, headers = {}): Promise<Reply> =>
  app.call('POST', `/api/v1/issues/${id}/triage/${verb}`, body, headers);
const setTriage = async (mode: string): Promise<void> => {
  const { json } = await app.call('GET', '/api/v1/teams');
  await app.call('PATCH', `/api/v1/teams/${json.data[0].id}`, { triage: mode });
};
const get = async (id: string): Promise<Json> => (await app.call('GET', `/api/v1/issues/${id}`)).json;

test('a team decides which new issues without a state go to triage', async () => {
  const types = async (): Promise<string[]> => [
    (await make()).state.type,
    (await make({}, guest)).state.type,
    (await make({ stateId: states.started }, guest)).state.type,
  ];
  expect(await types()).toEqual(['backlog', 'backlog', 'started']);
  await setTriage('outside');
  expect(await types()).toEqual(['backlog', 'triage', 'started']);
  await setTriage('all');
  expect(await types()).toEqual(['triage', 'triage', 'started']);
  await setTriage('off');
});

test('an accepted issue goes to the backlog or the given state, with the other given changes', async () => {
  const [one, other] = [await inTriage(), await inTriage()];
  await app.settled();
  const from = await app.lastSequence();
  const accepted = await triage(one.identifier, 'accept', { priority: 'high', labels: ['bug'] });
  expect([accepted.status, accepted.json]).toMatchObject([
    200,
    { state: { type: 'backlog' }, priority: 'high', labels: [{ name: 'bug' }] },
  ]);
  expect(await app.eventTypes(from)).toEqual([
    'issue.updated',
    'issue.state_changed',
    'issue.triage_accepted',
    'issue.labeled',
  ]);
  expect((await triage(other.id, 'accept', { stateId: states.started })).json.state.type).toBe('started');
  expect((await triage(other.id, 'accept')).status).toBe(409);
  const stay = await triage((await inTriage()).id, 'accept', { stateId: states.triage });
  expect([stay.status, stay.json.error.details[0].path]).toEqual([422, 'stateId']);
});

test('a declined issue is canceled with the reason', async () => {
  const issue = await inTriage();
  const from = await app.lastSequence();
  const { json } = await triage(issue.id, 'decline', { reason: 'It is meant to be so.' });
  expect(json.state.type).toBe('canceled');
  expect(await app.eventTypes(from)).toEqual([
    'issue.updated',
    'issue.state_changed',
    'issue.triage_declined',
    'comment.added',
  ]);
  const { data } = (await app.call('GET', `/api/v1/issues/${issue.id}/comments`)).json;
  expect(data.map(({ body }: Json) => body)).toEqual(['It is meant to be so.']);
  const bare = await inTriage();
  const only = app.clientOf(await app.mintKey(['issues:write']));
  const decline = (body: object): Promise<Reply> =>
    only('POST', `/api/v1/issues/${bare.id}/triage/decline`, body);
  expect((await decline({ reason: 'No.' })).status).toBe(403);
  expect((await decline({})).status).toBe(200);
});

test('a state change out of triage accepts or declines the issue', async () => {
  const [one, other] = [await inTriage(), await inTriage()];
  const from = await app.lastSequence();
  await app.call('PATCH', `/api/v1/issues/${one.id}`, { stateId: states.unstarted });
  await app.call('PATCH', `/api/v1/issues/${other.id}`, { stateId: states.duplicate });
  expect((await app.eventTypes(from)).filter((type) => type.includes('triage'))).toEqual([
    'issue.triage_accepted',
    'issue.triage_declined',
  ]);
});

test('one of a concurrent accept and decline succeeds', async () => {
  const issue = await inTriage();
  const from = await app.lastSequence();
  const replies = await Promise.all([triage(issue.id, 'accept'), triage(issue.id, 'decline')]);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await app.eventTypes(from)).filter((type) => type.includes('triage'))).toHaveLength(1);
});

test('a snoozed issue returns once and on time, also over a restart', async () => {
  const [one, accepted, gone] = [await inTriage(), await inTriage(), await inTriage()];
  const until = new Date(app.clock.now() + 3_600_000).toISOString();
  for (const { id } of [one, accepted, gone]) {
    const { status, json } = await triage(id, 'snooze', { until });
    expect([status, json.snoozedUntil, json.state.type]).toEqual([200, until, 'triage']);
  }
  expect((await triage(accepted.id, 'accept')).json.snoozedUntil).toBeNull();
  await app.call('DELETE', `/api/v1/issues/${gone.id}`);
  const filter = (tree: object) => encodeURIComponent(JSON.stringify(tree));
  const snoozed = await app.call(
    'GET',
    `/api/v1/issues?filter=${filter({ snoozedUntil: { gt: 'PT30M' } })}&sort=snoozedUntil`,
  );
  expect(snoozed.json.data.map(({ id }: Json) => id)).toEqual([one.id]);
  const from = await app.lastSequence();
  app.clock.advance(3_599_000);
  await app.settled();
  expect(await app.eventTypes(from)).toEqual([]);
  app = await app.restart();
  app.clock.advance(2_000);
  await app.settled();
  expect((await get(one.id)).snoozedUntil).toBeNull();
  const { data } = (await app.call('GET', `/api/v1/events?after=${from}`)).json;
  expect(
    data.map(({ type, actor, data: { id, previous } }: Json) => [type, actor.kind, id, previous]),
  ).toEqual([['issue.updated', 'system', one.id, { snoozedUntil: until }]]);
  // An issue that is deleted while snoozed returns when it is restored.
  await app.call('POST', `/api/v1/issues/${gone.id}/restore`);
  await app.settled();
  expect((await get(gone.id)).snoozedUntil).toBeNull();
});

test('a repeated snooze moves the time, and null ends it', async () => {
  const issue = await inTriage();
  const at = (ms: number): string => new Date(app.clock.now() + ms).toISOString();
  await triage(issue.id, 'snooze', { until: at(60_000) });
  const later = at(120_000);
  await triage(issue.id, 'snooze', { until: later });
  app.clock.advance(90_000);
  await app.settled();
  expect((await get(issue.id)).snoozedUntil).toBe(later);
  expect((await triage(issue.id, 'snooze', { until: null })).json.snoozedUntil).toBeNull();
  expect((await triage(issue.id, 'snooze', { until: at(-1) })).json.error.details[0]).toMatchObject({
    path: 'until',
    issue: 'too_small',
  });
  expect((await triage((await make()).id, 'snooze', { until: at(1_000) })).status).toBe(409);
});
