// People: a link gives a seat once, a password signs in, and what a person may do here is theirs to see and to end.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../app.ts';
import { createVisitor, saidBy } from './visitor.ts';

const dayMs = 86_400_000;
const password = 'seven geese over the pond';
let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const pathOf = (url: string): string => new URL(url).pathname;

async function invited(fields: object = {}): Promise<{ id: string; path: string }> {
  const { json: made } = await app.call('POST', '/api/v1/members', { name: 'Ben', ...fields });
  const { json } = await app.call('POST', `/api/v1/members/${made.id}/invitation`);
  return { id: made.id, path: pathOf(json.url) };
}

let people = 0;
/** Somebody who has joined, signed in. */
async function joined() {
  const { id, path } = await invited();
  const email = `person${++people}@acme.example`;
  const visitor = createVisitor(app);
  expect(await visitor.post(path, { name: 'Ben', email, password })).toMatchObject({
    status: 303,
    to: '/account',
  });
  return { id, email, visitor };
}

test('the set-up link makes the account of the owner, once, and signs them in', async () => {
  const after = await app.lastSequence();
  const path = pathOf(app.workspace.setUpUrl);
  const ana = createVisitor(app);
  expect((await ana.get(path)).text).toContain('Join Acme');
  const joins = await ana.post(path, { name: 'Ana', email: 'ana@acme.example', password });
  expect(joins).toMatchObject({ status: 303, to: '/account' });
  const account = await ana.get('/account');
  expect(account.status).toBe(200);
  expect(account.text).toContain('ana@acme.example');
  const { json: owner } = await app.call('GET', '/api/v1/members/me');
  expect(owner).toMatchObject({ name: 'Ana', joinedAt: '2026-11-20T12:00:00.000Z' });
  expect(await app.eventTypes(after)).toEqual(['member.updated']);

  const other = createVisitor(app);
  expect((await other.get(path)).status).toBe(404);
  expect((await other.post(path, { name: 'Eve', email: 'eve@acme.example', password })).status).toBe(404);
});

void [dayMs, saidBy, joined];
