import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createSessions, type Sessions } from '../../../core/features/sign-in/sessions.ts';
import { startApp, type TestApp } from '../../app.ts';
import { signIn } from './person.ts';

const dayMs = 86_400_000;
let app: TestApp;
let sessions: Sessions;
const findSession = (cookie: string) => sessions.find(new Headers({ cookie }));

beforeAll(async () => {
  app = await startApp();
  sessions = createSessions(app.services);
});
afterAll(() => app.stop());

test('a person acts as the member of the accepted invitation, in that workspace only', async () => {
  const other = await app.addWorkspace('Other', 'OTH');
  const { who } = await signIn(app, other);
  expect(who.memberships).toMatchObject([
    { workspaceId: other.workspaceId, workspaceName: 'Other', memberId: other.userId, role: 'owner' },
  ]);
  expect(await sessions.principal(who, app.workspace.workspaceId)).toBeNull();
  const principal = await sessions.principal(who, other.workspaceId);
  expect(principal?.actor).toMatchObject({ kind: 'user', id: other.userId, memberId: other.userId });
});

test('a session ends when it is signed out, a week after its last use, and a month after its start', async () => {
  const owner = app.workspace.userId;
  const { cookie, who } = await signIn(app);
  for (let week = 0; week < 4; week++) {
    app.clock.advance(7 * dayMs - 1);
    expect(await findSession(cookie)).not.toBeNull();
  }
  app.clock.advance(2 * dayMs + 4);
  expect(await findSession(cookie)).toBeNull();

  const again = `${(await sessions.begin(who.accountId, { address: '', agent: '' })).split(';')[0]}`;
  expect((await findSession(again))?.memberships).toMatchObject([{ memberId: owner }]);
  app.clock.advance(7 * dayMs);
  expect(await findSession(again)).toBeNull();

  const third = `${(await sessions.begin(who.accountId, { address: '', agent: '' })).split(';')[0]}`;
  await sessions.end(who.accountId, (await findSession(third))!.sessionId);
  expect(await findSession(third)).toBeNull();
});

test('the database stores no token, and an invented cookie is not signed in', async () => {
  expect(await findSession('__Host-tatami=AAAA')).toBeNull();
  expect(await findSession('tatami=AAAA')).toBeNull();
});
