// Comments and attachments are deleted only by their author and by admins, on every path, and a comment can be
// restored.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { askAs, scopesBut } from '../rights/asking.ts';

const v1 = '/api/v1';
const people = ['admin', 'member', 'other', 'guest'] as const;
type Who = (typeof people)[number];

let app: TestApp;
let as: Record<Who, Client>;
let issue: Json;

async function create(call: Client, path: string, body: object): Promise<Json> {
  const { status, json, text } = await call('POST', `${v1}${path}`, body);
  if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
  return json;
}

beforeAll(async () => {
  app = await startApp();
  const callers = await Promise.all(
    people.map(async (who) => {
      const role = who === 'other' ? 'member' : who;
      const { id } = await create(app.call, '/members', {
        ...{ name: who, role },
        ...(role === 'guest' ? { teams: ['ENG'] } : {}),
      });
      const { key } = await create(app.call, '/api-keys', { name: who, scopes: allScopes, memberId: id });
      return [who, app.clientOf(key)] as const;
    }),
  );
  as = Object.fromEntries(callers) as Record<Who, Client>;
  issue = await create(app.call, '/issues', { team: 'ENG', title: 'Talked about' });
});
afterAll(() => app.stop());

const commentEvents = async (after: number): Promise<string[]> =>
  (await app.eventTypes(after)).filter((type) => type.startsWith('comment.'));
const say = (who: Who): Promise<Json> =>
  create(as[who], `/issues/${issue.id}/comments`, { body: `By ${who}` });

test('a comment is deleted only by its author and by admins', async () => {
  const comment = await say('member');
  const path = `${v1}/comments/${comment.id}`;
  const before = await app.lastSequence();
  for (const who of ['guest', 'other'] as const) {
    const { status, json } = await as[who]('DELETE', path);
    expect([who, status, json?.error.code]).toEqual([who, 403, 'forbidden']);
    const simulated = await as[who]('DELETE', path, undefined, { 'tatami-mode': 'simulate' });
    expect([who, simulated.status]).toEqual([who, 403]);
  }
  const plugin = await askAs(app, scopesBut([]), 'DELETE', path, undefined, null);
  expect([plugin.status, plugin.code]).toEqual([403, 'forbidden']);
  expect(await commentEvents(before)).toEqual([]);
  expect((await as.member('DELETE', path)).status).toBe(204);
  const another = await say('guest');
  expect((await as.admin('DELETE', `${v1}/comments/${another.id}`)).status).toBe(204);
  expect(await commentEvents(before)).toEqual(['comment.deleted', 'comment.added', 'comment.deleted']);
});

test('a deleted comment is listed for its author and admins, and only they restore it, with its thread', async () => {
  const comment = await say('member');
  const path = `${v1}/comments/${comment.id}`;
  await as.member('DELETE', path);
  const listed = async (query: string): Promise<string[]> =>
    (await as.member('GET', `${v1}/issues/${issue.id}/comments?${query}`)).json.data.map(
      ({ id }: Json) => id,
    );
  expect((await listed('')).includes(comment.id)).toBe(false);
  expect((await listed('deleted=only')).includes(comment.id)).toBe(true);
  for (const [who, isListed] of [
    ['guest', false],
    ['other', false],
    ['admin', true],
  ] as const) {
    const { text } = await as[who]('GET', `${v1}/issues/${issue.id}/comments?deleted=include&limit=100`);
    expect([who, text.includes(comment.id)]).toEqual([who, isListed]);
  }
  for (const who of ['guest', 'other'] as const)
    expect([who, (await as[who]('POST', `${path}/restore`)).status]).toEqual([who, 403]);
  const before = await app.lastSequence();
  const back = await as.member('POST', `${path}/restore`);
  expect([back.status, back.json.body, back.json.deletedAt]).toEqual([200, 'By member', null]);
  expect(await commentEvents(before)).toEqual(['comment.restored']);
  expect((await listed('')).includes(comment.id)).toBe(true);
  // A second restore changes nothing.
  expect((await as.member('POST', `${path}/restore`)).status).toBe(200);
  expect(await commentEvents(before)).toEqual(['comment.restored']);
});

test('restoring a comment sends no second notification', async () => {
  const comment = await say('member');
  await app.settled();
  const inbox = async (): Promise<unknown> => (await app.call('GET', `${v1}/inbox?limit=100`)).json.data;
  await app.settled();
  const before = await inbox();
  await as.member('DELETE', `${v1}/comments/${comment.id}`);
  await as.member('POST', `${v1}/comments/${comment.id}/restore`);
  await app.settled();
  expect(await inbox()).toEqual(before);
});

test('a comment of a deleted, hidden or missing issue cannot be restored', async () => {
  const gone = await create(app.call, '/issues', { team: 'ENG', title: 'Gone' });
  const comment = await create(app.call, `/issues/${gone.id}/comments`, { body: 'x' });
  await app.call('DELETE', `${v1}/comments/${comment.id}`);
  await app.call('DELETE', `${v1}/issues/${gone.id}`);
  expect((await app.call('POST', `${v1}/comments/${comment.id}/restore`)).status).toBe(404);
  await create(app.call, '/teams', { key: 'OUT', name: 'Out' });
  const hidden = await create(app.call, '/issues', { team: 'OUT', title: 'Hidden' });
  const theirs = await create(app.call, `/issues/${hidden.id}/comments`, { body: 'x' });
  for (const [method, path] of [
    ['DELETE', `/comments/${theirs.id}`],
    ['POST', `/comments/${theirs.id}/restore`],
    ['POST', '/comments/cmt_00000000000000000000000000/restore'],
  ] as const)
    expect((await as.guest(method, v1 + path)).status).toBe(404);
});

test('a guest cannot delete attachments of others; members can', async () => {
  const attach = (who: Who): Promise<Json> =>
    create(as[who], `/issues/${issue.id}/attachments`, { title: who, url: 'https://example.com/' });
  const [own, members, guests] = [await attach('guest'), await attach('member'), await attach('guest')];
  const status = async (who: Who, { id }: Json) =>
    (await as[who]('DELETE', `${v1}/attachments/${id}`)).status;
  expect([await status('guest', members), await status('guest', own)]).toEqual([403, 204]);
  expect([await status('other', members), await status('member', guests)]).toEqual([204, 204]);
});
