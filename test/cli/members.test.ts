// `tatami members …` for the operator: a locked-out owner regains access, with and without a running server.
import { expect, test } from 'bun:test';
import { Secret, TOTP } from 'otpauth';
import { createOneTimeCodes } from '../../core/features/sign-in/one-time-codes.ts';
import { createSessions } from '../../core/features/sign-in/sessions.ts';
import { createSystemClock, startApp } from '../app.ts';
import { createVisitor, type Visitor } from '../features/sign-in/visitor.ts';
import { tatami, temporary } from './tatami.ts';

const password = 'seven geese over the pond';
const pathOf = (url: string): string => new URL(url).pathname;

test('beside a running server, members are invited, and a member with an account gets a password reset', async () => {
  const app = await startApp({ clock: createSystemClock() });
  const members = (...args: string[]) => tatami(['members', ...args, '--data-dir', app.dataDir]);
  try {
    const invited = await members('invite', 'Acme owner', '--json');
    expect(invited.json).toMatchObject({
      member: { name: 'Acme owner' },
      workspaceId: app.workspace.workspaceId,
    });
    // The invitation replaced the set-up link.
    const visitor = createVisitor(app);
    expect((await visitor.get(pathOf(app.workspace.setUpUrl))).status).toBe(404);
    const email = 'ana@acme.example';
    expect((await visitor.post(pathOf(invited.json.url), { name: 'Ana', email, password })).status).toBe(303);

    const again = await members('invite', 'Ana');
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('tatami members reset')]);
    const unknown = await members('reset', 'nobody@acme.example');
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('tatami members invite')]);
    const reset = await members('reset', email);
    expect(reset.out).toMatch(
      /^account {3}ana@acme\.example\nlink {6}http\S+\/reset\/\S{43} {3}\(works once\)\nexpires {3}\S+Z$/m,
    );
    const [link = ''] = /http\S+/.exec(reset.out) ?? [];
    const owner = createVisitor(app);
    expect((await owner.post(pathOf(link), { password: 'nine herons at the mill' })).to).toBe(
      '/sign-in?reset',
    );
    expect((await visitor.get('/account')).to).toStartWith('/sign-in');
    const codes = createOneTimeCodes(app.services);
    const { accountId } = (await createSessions(app.services).find(await signedIn(owner, email)))!;
    await codes.begin(accountId);
    const secret = Secret.fromBase32((await codes.waiting(accountId))!);
    await codes.confirm(accountId, new TOTP({ secret }).generate({ timestamp: app.clock.now() }));
    const lost = { email, password: 'nine herons at the mill' };
    expect((await owner.post('/sign-in', lost)).to).toBe('/sign-in/code');
    // A password reset disables no second factor, unless the operator requests it.
    await members('reset', email);
    expect((await owner.post('/sign-in', lost)).to).toBe('/sign-in/code');
    await members('reset', email, '--codes-off');
    expect((await owner.post('/sign-in', lost)).to).toBe('/');
  } finally {
    await app.stop();
  }
}, 60_000);

async function signedIn(visitor: Visitor, email: string): Promise<Headers> {
  await visitor.post('/sign-in', { email, password: 'nine herons at the mill' });
  return new Headers({ cookie: `__Host-tatami=${visitor.cookies.get('__Host-tatami')}` });
}

test('without a server, members are invited; a first start whose output was lost prints another link', async () => {
  using dir = temporary();
  const dataDir = dir.path('data');
  const initResult = await tatami([
    'init',
    '--data-dir',
    dataDir,
    '--workspace',
    'A',
    '--team',
    'ENG',
    '--json',
  ]);
  expect(initResult.json.setUpUrl).toMatch(/^http:\/\/127\.0\.0\.1:4700\/join\/[\w-]{43}$/);
  const invited = await tatami(['members', 'invite', 'Owner', '--data-dir', dataDir]);
  expect(invited.out).toMatch(
    /^member {4}Owner \(usr_\w+\)\nlink {6}http:\/\/127\.0\.0\.1:4700\/join\/\S{43} /m,
  );
}, 60_000);
