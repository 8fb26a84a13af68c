// Attacks on signed URLs of files. A URL that is forged, has expired, or whose caller may no longer see the file gets the 404
// that every other path gets, and is written down nowhere.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { createSessions } from '../../core/features/sign-in/sessions.ts';
import { digestIn } from '../../core/platform/store/files/blobs.ts';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { images, open, signedPath, upload } from '../features/attachments/files.ts';
import { browserOf, registerApp, tokensOf } from '../features/oauth/client.ts';
import { bearerOf, signIn, type Person } from '../features/sign-in/person.ts';

const v1 = '/api/v1';
const png = images['image/png']!;
let app: TestApp;
let issue: Json;
let file: Json;
let path: string;
/** Owner of the workspace, signed in. */
let owner: Person;

beforeAll(async () => {
  app = await startApp({ flags: { metricsPort: '0' } });
  issue = await create('/issues', { team: 'ENG', title: 'With files' });
  file = await upload(app, issue.id, { content: png });
  path = await signedPath(app.call, file);
  owner = await signIn(app);
});
afterAll(() => app.stop());

async function create(at: string, body: object, call: Client = app.call): Promise<Json> {
  const { status, json, text } = await call('POST', v1 + at, body);
  if (status >= 300) throw new Error(`POST ${at}: ${text}`);
  return json;
}

const statusOf = async (at: string): Promise<number> => (await open(app, at)).status;

/** Asserts that a path gets the same 404 as a path that never was a URL, to programs and to browsers. */
async function expectNothing(at: string): Promise<void> {
  for (const accept of ['*/*', 'text/html']) {
    const [here, nowhere] = [await open(app, at, { accept }), await open(app, '/files/x', { accept })];
    const partsOf = ({ status, text, headers }: typeof here): unknown => [
      status,
      text.replace(/req_\w+/, ''),
      headers.get('content-type'),
      headers.get('cache-control'),
      [...headers.keys()].toSorted(),
    ];
    expect([at, partsOf(here)]).toEqual([at, partsOf(nowhere)]);
    expect(here.status).toBe(404);
  }
}

describe('a forged URL is no URL', () => {
  const partsOf = (): string[] => path.slice('/files/'.length).split('.');
  const sign = (text: string, purpose = 'attachment-url'): string =>
    `/files/${text}.${app.services.sealing.sign(text, purpose)}`;

  test('each part of a token is bound to its signature', async () => {
    const other = await upload(app, issue.id, { content: 'other' });
    const changes = [
      other.id,
      app.services.ids.uuid(),
      `key_${'0'.repeat(26)}`,
      '9999999999',
      'A'.repeat(22),
    ];
    for (const [at, change] of changes.entries()) {
      const parts = partsOf().with(at, change);
      await expectNothing(`/files/${parts.join('.')}`);
    }
    const [signature = ''] = partsOf().slice(-1);
    const flipped = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
    await expectNothing(`/files/${partsOf().with(4, flipped).join('.')}`);
  });

  test('truncated, extended and repeated tokens are refused', async () => {
    for (let length = 1; length < path.length - '/files/'.length; length += 7)
      await expectNothing(path.slice(0, -length));
    for (const more of ['=', 'A', '.A', '%00', '%20', '?x=1']) await expectNothing(path + more);
    await expectNothing(`/files/${path.slice('/files/'.length).toUpperCase()}`);
  });

  test('a signature of another purpose is refused', async () => {
    const text = partsOf().slice(0, 4).join('.');
    expect(await statusOf(sign(text))).toBe(200);
    for (const purpose of ['cursor', 'oauth-user-code', '']) await expectNothing(sign(text, purpose));
  });

  test('paths out of the folder of files lead nowhere', async () => {
    const escapes = ['..%2f..%2fetc%2fpasswd', '%2e%2e%5c', '%2fetc', `${file.sha256}`, '%ff', '%', ''];
    for (const escape of escapes) expect([escape, await statusOf(`/files/${escape}`)]).toEqual([escape, 404]);
    expect(await statusOf(`/files/${file.id}`)).toBe(404);
  });

  test('a signed token without a key, grant or session opens nothing', async () => {
    const [id, workspace, , expires] = partsOf();
    for (const credential of [`plg_${'0'.repeat(26)}`, `whe_${'0'.repeat(26)}`, app.workspace.userId])
      await expectNothing(sign([id, workspace, credential, expires].join('.')));
  });
});

test('a URL of one workspace opens no file of another', async () => {
  const other = await app.addWorkspace('Other', 'OTH');
  const call = app.clientOf(other.apiKey);
  const theirs = await create('/issues', { team: 'OTH', title: 'x' }, call);
  const secret = await upload(app, theirs.id, { content: 'secret' }, other.apiKey);
  expect((await app.call('GET', `${v1}/attachments/${secret.id}/url`)).status).toBe(404);
  expect(await statusOf(await signedPath(call, secret))).toBe(200);
  // Even a signature of the server itself opens no file across workspaces.
  const [, mine, credential, expires] = path.slice('/files/'.length).split('.');
  for (const workspace of [mine, other.workspaceId]) {
    const text = [secret.id, workspace, credential, expires].join('.');
    await expectNothing(`/files/${text}.${app.services.sealing.sign(text, 'attachment-url')}`);
  }
});

test('a URL ends at its time', async () => {
  const { json } = await app.call('GET', `${v1}/attachments/${file.id}/url`);
  const at = new URL(json.url).pathname;
  app.clock.advance(Date.parse(json.expiresAt) - app.clock.now() - 1);
  expect(await statusOf(at)).toBe(200);
  app.clock.advance(1);
  await expectNothing(at);
});

describe('a URL ends with the right to see the file', () => {
  /** Ends the right of a member with these terms, and returns the statuses before and after. */
  async function lose(
    terms: object,
    end: (member: Json, issue: Json, file: Json, key: Json) => Promise<unknown>,
  ): Promise<void> {
    const own = await create('/issues', { team: 'ENG', title: 'To be lost' });
    const sent = await upload(app, own.id, { content: png });
    const member = await create('/members', { name: 'Gil', ...terms });
    const key = await create('/api-keys', { name: 'Gil', scopes: allScopes, memberId: member.id });
    const at = await signedPath(app.clientOf(key.key), sent);
    expect(await statusOf(at)).toBe(200);
    await end(member, own, sent, key);
    await expectNothing(at);
  }
  const patch = async (at: string, body: object): Promise<void> =>
    expect((await app.call('PATCH', v1 + at, body)).status).toBe(200);
  const remove = async (at: string): Promise<void> =>
    expect((await app.call('DELETE', v1 + at)).status).toBe(204);

  test('when the role of the member is lowered', () =>
    lose({ role: 'member' }, ({ id }) => patch(`/members/${id}`, { role: 'guest' })));

  test('when a guest loses the team', () =>
    lose({ role: 'guest', teams: ['ENG'] }, ({ id }) => patch(`/members/${id}`, { teams: [] })));

  test('when the issue moves to a team that a guest does not see', async () => {
    await create('/teams', { key: 'HID' });
    await lose({ role: 'guest', teams: ['ENG'] }, (_, { id }) =>
      create(`/issues/${id}/move`, { team: 'HID' }),
    );
  });

  test('when the member is removed', () => lose({}, ({ id }) => remove(`/members/${id}`)));

  test('when the key is revoked', () => lose({}, (_, _issue, _file, { id }) => remove(`/api-keys/${id}`)));

  test('when the attachment or its issue is deleted', async () => {
    await lose({}, (_, _issue, { id }) => remove(`/attachments/${id}`));
    await lose({}, (_, { id }) => remove(`/issues/${id}`));
  });

  test('when the key expires', async () => {
    const expiresAt = new Date(app.clock.now() + 60_000).toISOString();
    const key = await create('/api-keys', { name: 'short', scopes: ['attachments:read'], expiresAt });
    const at = await signedPath(app.clientOf(key.key), file);
    app.clock.advance(59_999);
    expect(await statusOf(at)).toBe(200);
    app.clock.advance(1);
    await expectNothing(at);
  });

  test('when the grant of an app is revoked', async () => {
    const client = await registerApp(app, { name: 'Viewer' });
    const tokens = await tokensOf(app, client, {
      browser: await browserOf(app, owner),
      params: { scope: 'attachments:read issues:read' },
    });
    const at = await signedPath(app.clientOf(tokens.access_token), file);
    expect(await statusOf(at)).toBe(200);
    const { json: grants } = await app.call('GET', `${v1}/grants`);
    await remove(`/grants/${grants.data[0].id}`);
    await expectNothing(at);
  });

  test('when the session ends', async () => {
    const at = await signedPath(app.clientOf(await bearerOf(app, owner)), file);
    expect(await statusOf(at)).toBe(200);
    await createSessions(app.services).end(owner.accountId, owner.who.sessionId);
    await expectNothing(at);
  });
});

test('a token appears in no log, metric or error, even if the server fails', async () => {
  const lost = await upload(app, issue.id, { content: 'lost' });
  const at = await signedPath(app.call, lost);
  rmSync(app.services.blobs.pathOf(digestIn(lost.sha256)!));
  const failed = await open(app, at);
  expect([failed.status, failed.json.error.code]).toEqual([500, 'internal_error']);
  const others = [await open(app, `${at}/`), await open(app, `${at}/x`), await app.clientOf(null)('PUT', at)];
  const logged = JSON.stringify(app.logs);
  expect(logged).toContain(`/files/${lost.id}`);
  const metrics = await (await fetch(app.metricsUrl ?? '')).text();
  expect(metrics).toContain('route="/files/{token}",status="200"');
  const signature = at.split('.').at(-1)!;
  for (const text of [logged, metrics, failed.text, ...others.map((other) => other.text)])
    expect(text).not.toContain(signature);
});

test('guesses are limited by address, and valid URLs by the key that asked for them', async () => {
  const limited = await startApp({ flags: { rateLimit: 'on', rateRead: '5' } });
  try {
    const own = (await limited.call('POST', `${v1}/issues`, { team: 'ENG', title: 'x' })).json;
    const sent = await upload(limited, own.id, { content: png });
    const at = await signedPath(limited.call, sent);
    const guesses: number[] = [];
    for (let n = 0; n < 7; n++) guesses.push((await open(limited, `${at}A`)).status);
    expect(guesses).toEqual([404, 404, 404, 404, 404, 429, 429]);
    const uses: number[] = [];
    for (let n = 0; n < 7; n++) uses.push((await open(limited, at)).status);
    expect(uses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  } finally {
    await limited.stop();
  }
});
