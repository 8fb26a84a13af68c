import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { join, v1 } from '../people.ts';

let app: TestApp;
let ana: Client;
let ben: Client;
const ids: Record<string, string> = {};

beforeAll(async () => {
  app = await startApp();
  const people = [await join(app, 'Ana Lindqvist'), await join(app, 'Ben Okafor')] as const;
  ids.Ana = people[0].id;
  [ana, ben] = [people[0].call, people[1].call];
});
afterAll(() => app.stop());

const inboxOf = async (who: Client, query = ''): Promise<Json[]> => {
  await app.settled();
  return (await who('GET', `${v1}/inbox${query}`)).json.data;
};
const file = async (title: string, more: object = {}): Promise<Json> =>
  (await app.call('POST', `${v1}/issues`, { team: 'ENG', title, ...more })).json;
const clear = async (...all: Client[]): Promise<void> => {
  await app.settled();
  for (const who of all)
    for (const { id } of await inboxOf(who)) await who('PATCH', `${v1}/inbox/${id}`, { archived: true });
};

test('an assignment creates one inbox item for the assignee and subscribes the assignee', async () => {
  const from = await app.lastSequence();
  const issue = await file('The save dialog crashes', { assigneeId: ids.Ana });
  const items = await inboxOf(ana);
  expect(items).toMatchObject([
    {
      reason: 'assigned',
      kind: 'issue_assigned',
      title: `Acme owner assigned ${issue.identifier} to you`,
      body: 'The save dialog crashes',
      target: { kind: 'issue', id: issue.id },
      issue: { id: issue.id, identifier: issue.identifier },
      actor: { kind: 'user', id: app.workspace.userId, name: 'Acme owner' },
      member: { id: ids.Ana, name: 'Ana Lindqvist' },
      count: 1,
      readAt: null,
      archivedAt: null,
      snoozedUntil: null,
    },
  ]);
  expect(await app.eventTypes(from)).toEqual(['issue.created', 'issue.subscribed', 'inbox.item_created']);
  const { data: notified } = (await app.call('GET', `${v1}/events?after=${from}&types=inbox.*`)).json;
  expect([notified[0].data, notified[0].actor]).toEqual([
    items[0],
    { kind: 'system', id: 'inbox', name: 'Inbox' },
  ]);
  expect(notified[0].cause.rootEventId).not.toBe(notified[0].id);
  expect([await inboxOf(app.call), await inboxOf(ben)]).toEqual([[], []]);
});

test('an updated item uses the current title of the issue', async () => {
  await clear(ana);
  const { id } = await file('Goes elsewhere');
  const mention = (): Promise<unknown> =>
    app.call('POST', `${v1}/issues/${id}/comments`, { body: '@ana look' });
  await mention();
  await app.settled();
  await app.call('POST', `${v1}/teams`, { key: 'FAR', name: 'Far away' });
  const moved = await app.call('POST', `${v1}/issues/${id}/move`, { team: 'FAR' });
  expect(moved.json.identifier).toBe('FAR-1');
  await mention();
  expect(await inboxOf(ana, '?reason=mentioned')).toMatchObject([
    { title: 'Acme owner mentioned you in FAR-1', issue: { id, identifier: 'FAR-1' } },
  ]);
});

test('a subscriber gets changes in one unread item with a count, and none for own changes', async () => {
  await clear(ana);
  const issue = await file('Counts', { assigneeId: ids.Ana });
  await clear(ana);
  const path = `${v1}/issues/${issue.id}`;
  await app.call('PATCH', path, { priority: 'high' });
  await app.call('POST', `${path}/comments`, { body: 'Seen **again**.' });
  await app.call('PATCH', path, { dueDate: '2027-01-01', estimate: 3 });
  await ana('PATCH', path, { priority: 'low' });
  await app.call('PATCH', path, { labels: ['bug'] });
  const [item, ...others] = await inboxOf(ana);
  expect([item, others]).toMatchObject([
    {
      reason: 'subscribed',
      kind: 'issue_changed',
      count: 3,
      title: `Acme owner changed ${issue.identifier}: due date none → 2027-01-01`,
    },
    [],
  ]);
  await ana('PATCH', `${v1}/inbox/${item.id}`, { read: true });
  await app.call('POST', `${path}/comments`, { body: 'Once more.' });
  expect((await inboxOf(ana)).map(({ kind, count }: Json) => [kind, count])).toEqual([
    ['comment_added', 1],
    ['issue_changed', 3],
  ]);
  // The creator is notified of the change by Ana.
  expect((await inboxOf(app.call)).map(({ title }: Json) => title)).toEqual([
    `Ana Lindqvist changed ${issue.identifier}: priority high → low`,
  ]);
  await clear(ana, app.call);
});

test('a reply notifies the participants of a thread, a mention takes precedence, and an edit notifies only new mentions', async () => {
  const issue = await file('Threads');
  const path = `${v1}/issues/${issue.id}/comments`;
  const { json: first } = await ana('POST', path, { body: 'Why?' });
  await clear(app.call);
  const { json: answer } = await ben('POST', path, { body: 'Because of @acme.', parentId: first.id });
  const notified = async (who: Client) =>
    (await inboxOf(who)).map(({ reason, kind }: Json) => [reason, kind]);
  expect(await notified(ana)).toEqual([['replied', 'comment_replied']]);
  expect(await notified(app.call)).toEqual([['mentioned', 'issue_mentioned']]);
  await clear(ana, app.call);
  await ben('PATCH', `${v1}/comments/${answer.id}`, { body: 'Because of @acme, and @Ana Lindqvist.' });
  expect(await notified(ana)).toEqual([['mentioned', 'issue_mentioned']]);
  expect(await notified(app.call)).toEqual([]);
  await clear(ana);
});

test('an inbox is private to its member, who can read, archive and unarchive its items', async () => {
  await file('Mine', { assigneeId: ids.Ana });
  const [item] = await inboxOf(ana);
  const one = `${v1}/inbox/${item.id}`;
  expect((await ana('GET', one)).json).toEqual(item);
  for (const [method, body] of [['GET'], ['PATCH', { read: true }]] as const)
    expect([method, (await app.call(method, one, body)).status]).toEqual([method, 404]);
  const from = await app.lastSequence();
  const read = (await ana('PATCH', one, { read: true })).json;
  expect(read).toMatchObject({ readAt: new Date(app.clock.now()).toISOString(), version: 2 });
  expect((await ana('PATCH', one, { read: true })).json).toEqual(read);
  expect((await inboxOf(ana, '?unread=true')).length).toBe(0);
  expect((await inboxOf(ana, '?unread=false&reason=assigned'))[0].id).toBe(item.id);
  await ana('PATCH', one, { archived: true });
  expect([await inboxOf(ana), (await inboxOf(ana, '?archived=only'))[0].id]).toEqual([[], item.id]);
  await ana('PATCH', one, { archived: false, read: false });
  expect((await ana('GET', `${v1}/inbox/unread-count`)).json).toMatchObject({ unread: 1 });
  expect(await app.eventTypes(from)).toEqual([
    'inbox.item_read',
    'inbox.item_archived',
    'inbox.item_updated',
  ]);
  await clear(ana);
});

test('a snoozed item returns on time, unread and first, once, also after a restart', async () => {
  await file('Later', { assigneeId: ids.Ana });
  const [item] = await inboxOf(ana);
  const one = `${v1}/inbox/${item.id}`;
  const until = new Date(app.clock.now() + 3_600_000).toISOString();
  const past = { snoozedUntil: new Date(app.clock.now()).toISOString() };
  expect((await ana('PATCH', one, past)).json.error.details[0].path).toBe('snoozedUntil');
  await ana('PATCH', one, { read: true, snoozedUntil: until });
  expect([await inboxOf(ana), (await inboxOf(ana, '?snoozed=only'))[0].snoozedUntil]).toEqual([[], until]);
  app = await app.restart();
  const { json: key } = await app.call('POST', `${v1}/api-keys`, {
    name: 'again',
    scopes: ['inbox:write', 'issues:write', 'comments:write'],
    memberId: ids.Ana,
  });
  ana = app.clientOf(key.key);
  const from = await app.lastSequence();
  app.clock.advance(3_600_001);
  expect(await inboxOf(ana)).toMatchObject([{ id: item.id, readAt: null, snoozedUntil: null }]);
  app.clock.advance(86_400_000);
  await app.settled();
  expect((await app.eventTypes(from)).filter((type) => type.startsWith('inbox.'))).toEqual([
    'inbox.item_updated',
  ]);
  await clear(ana);
});

test('a disabled reason creates no items, and the others still do', async () => {
  expect((await ana('GET', `${v1}/inbox/preferences`)).json).toMatchObject({ assigned: true, sla: true });
  const from = await app.lastSequence();
  const off = (await ana('PUT', `${v1}/inbox/preferences`, { assigned: false })).json;
  expect(off).toMatchObject({ assigned: false, mentioned: true });
  await ana('PUT', `${v1}/inbox/preferences`, { assigned: false });
  expect(await app.eventTypes(from)).toEqual(['inbox.preferences_updated']);
  const issue = await file('Quiet', { assigneeId: ids.Ana });
  expect(await inboxOf(ana)).toEqual([]);
  await app.call('PATCH', `${v1}/issues/${issue.id}`, { description: 'Ask @ana.' });
  expect((await inboxOf(ana)).map(({ reason }: Json) => reason)).toEqual(['mentioned']);
  await ana('PUT', `${v1}/inbox/preferences`, {});
  await clear(ana);
});

test('marking all as read does not lose items that arrive concurrently', async () => {
  for (let n = 0; n < 3; n++) await file(`Many ${n}`, { assigneeId: ids.Ana });
  await app.settled();
  const [{ json: read }] = await Promise.all([
    ana('POST', `${v1}/inbox/read-all`),
    file('Meanwhile', { assigneeId: ids.Ana }),
    ana('POST', `${v1}/inbox/read-all`),
  ]);
  expect(read.hasMore).toBe(false);
  const items = await inboxOf(ana);
  expect(items.length).toBe(4);
  const { unread } = (await ana('GET', `${v1}/inbox/unread-count`)).json;
  expect(items.filter(({ readAt }: Json) => readAt === null).length).toBe(unread);
  expect([0, 1]).toContain(unread);
  const again = (await ana('POST', `${v1}/inbox/read-all`)).json;
  expect(again).toEqual({ read: unread, hasMore: false });
  await clear(ana);
});

test('imported issues create no items, and triage notifies admins', async () => {
  const importing = app.clientOf(await app.mintKey(['issues:write', 'import:write']));
  const old = { team: 'ENG', title: 'Old', assigneeId: ids.Ana, createdAt: '2020-01-01T00:00:00Z' };
  expect((await importing('POST', `${v1}/issues`, old)).status).toBe(201);
  expect(await inboxOf(ana)).toEqual([]);
  const states = (await app.call('GET', `${v1}/workflows?team=ENG`)).json.data;
  const state = states.find(({ type }: Json) => type === 'triage');
  await clear(app.call);
  const reported = (await ana('POST', `${v1}/issues`, { team: 'ENG', title: 'Odd', stateId: state.id })).json;
  expect((await inboxOf(app.call)).map(({ reason, target }: Json) => [reason, target.id])).toEqual([
    ['triage', reported.id],
  ]);
});

test('items of a purged issue are deleted', async () => {
  const issue = await file('Gone', { assigneeId: ids.Ana });
  expect((await inboxOf(ana)).length).toBe(1);
  await app.call('DELETE', `${v1}/issues/${issue.id}`);
  expect((await app.call('POST', `${v1}/issues/${issue.id}/purge`)).status).toBe(204);
  expect(await inboxOf(ana)).toEqual([]);
});

test('each assignment creates one item, however often the server restarts in between', async () => {
  await clear(ana);
  const waiting: Promise<unknown>[] = [];
  for (let round = 0; round < 3; round++) {
    for (let nth = 0; nth < 8; nth++) waiting.push(file(`Round ${round}.${nth}`, { assigneeId: ids.Ana }));
    await Promise.all(waiting);
    // The restart cuts off requests that are still in flight.
    app = await app.restart();
  }
  const key = (
    await app.call('POST', `${v1}/api-keys`, { name: 'last', scopes: ['inbox:read'], memberId: ids.Ana })
  ).json;
  const items = await inboxOf(app.clientOf(key.key), '?limit=100');
  expect(items.map(({ body }: Json) => body).toSorted()).toEqual(
    Array.from({ length: 24 }, (_, n) => `Round ${Math.floor(n / 8)}.${n % 8}`),
  );
  expect(items.every(({ count }: Json) => count === 1)).toBe(true);
});
