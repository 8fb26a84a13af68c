// docs/security.md › Secrets at rest: credentials of people, devices, apps and agents are stored nowhere in plain text,
// in any encoding: in no file of the server, log, event, response or backup.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import Database from 'libsql';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import { makeBackup } from '../../core/platform/backup/make.ts';
import { restoreBackup } from '../../core/platform/backup/restore.ts';
import { openSource } from '../../core/platform/backup/source.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { createAuthenticator } from '../features/sign-in/authenticator.ts';
import { openMailbox, type Mailbox } from '../features/sign-in/mailbox.ts';
import { ask as askAsScript, formTokenOf } from '../features/sign-in/member.ts';
import { signIn } from '../features/sign-in/person.ts';
import { createVisitor, type Visitor } from '../features/sign-in/visitor.ts';
import { bearer, post, toolCall } from '../features/agents/agents.ts';
import * as oauth from '../features/oauth/client.ts';
import { filesUnder, findSecrets } from './searched.ts';

const email = 'ana@acme.example';
let mailbox: Mailbox;
let app: TestApp;
/** Every credential, by name. */
const secrets = new Map<string, string>();
/** Later responses to requests by any caller. */
const answers: string[] = [];

beforeAll(async () => {
  mailbox = await openMailbox();
  const smtpUrl = `smtp://tatami:of_the_mail_server@127.0.0.1:${mailbox.port}`;
  secrets.set('the password of the mail server', 'of_the_mail_server');
  const flags = { host: 'localhost', smtpUrl, mailFrom: 'tatami@acme.example' };
  app = await startApp({ flags });
});
afterAll(async () => {
  await app.stop();
  mailbox.close();
});

function recordSecret(name: string, secret: string | null | undefined): string {
  if (!secret) throw new Error(`There is no ${name}.`);
  secrets.set(name, secret);
  return secret;
}
/** Path of the link in the next mail that has one; notifications are skipped. */
async function linkInMail(name: string): Promise<string> {
  for (;;) {
    const mail = await mailbox.next();
    const [, path, token] = /http:[^\s/]*\/\/[^\s/]+(\/(?:join|reset)\/([\w-]+))/.exec(mail) ?? [];
    if (path === undefined) continue;
    recordSecret(name, token);
    return path;
  }
}
const session = ({ cookies }: Visitor): string | undefined => cookies.get('__Host-tatami');

/** A person who is invited, joins, mistypes, signs in, and gets a second session. */
async function joins(): Promise<Visitor> {
  const { json: member } = await app.call('POST', '/api/v1/members', { name: 'Ana', email });
  const invite = async (name: string): Promise<string> => {
    const once = { 'idempotency-key': name };
    const path = `/api/v1/members/${member.id}/invitation`;
    const { json } = await app.call('POST', path, undefined, once);
    // A stored idempotent response is sealed.
    expect((await app.call('POST', path, undefined, once)).json).toEqual(json);
    return linkInMail(name);
  };
  const replaced = await invite('an invitation that was replaced');
  const link = await invite('an invitation');
  const visitor = createVisitor(app);
  await visitor.get(replaced);
  const password = recordSecret('a password', 'nineteen otters in the reeds');
  expect((await visitor.post(link, { name: 'Ana', email, password })).status).toBe(303);
  recordSecret('a session', session(visitor));
  const wrong = recordSecret('a password that was mistyped', 'ninteen otters in the reeds');
  expect((await visitor.post('/sign-in', { email, password: wrong })).status).toBe(422);
  expect((await visitor.post('/sign-in', { email, password })).status).toBe(303);
  recordSecret('a later session', session(visitor));
  recordSecret('a known device', visitor.cookies.get('__Host-tatami-device'));
  return visitor;
}

/** Enables codes, aborts one attempt, uses a recovery code, and adds a passkey. */
async function addsFactors(visitor: Visitor): Promise<void> {
  const setUp = '/account/one-time-codes';
  await visitor.get('/account');
  await visitor.post(setUp);
  const setUpPage = await visitor.get(setUp);
  const [, grouped = ''] = /<code class="code">([A-Z2-7 ]+)</.exec(setUpPage.text) ?? [];
  const secret = recordSecret('the secret of codes', grouped.replaceAll(' ', ''));
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.now() });
  const confirmed = await visitor.post(`${setUp}/confirm`, { code });
  const recovery = [...confirmed.text.matchAll(/<code class="code">([a-z0-9-]+)</g)].map(([, each]) => each);
  expect(recovery).toHaveLength(10);
  for (const [at, each] of recovery.entries()) recordSecret(`recovery code ${at}`, each?.replaceAll('-', ''));

  const halfway = createVisitor(app);
  const password = secrets.get('a password')!;
  expect((await halfway.post('/sign-in', { email, password })).to).toBe('/sign-in/code');
  recordSecret('proof of a confirmed password', halfway.cookies.get('__Host-tatami-sign-in')?.split('.')[1]);
  const wrong = recordSecret('an invalid recovery code', 'aaaaa-bbbbb-ccccc-ddddd');
  expect((await halfway.post('/sign-in/code', { code: wrong })).status).toBe(422);
  expect((await halfway.post('/sign-in/code', { code: recovery[0]! })).status).toBe(303);

  const form_token = recordSecret('token of a form', await formTokenOf(visitor));
  const { json: options } = await askAsScript(app, visitor, '/account/passkeys/options', { form_token });
  for (const [name, value] of visitor.cookies) if (/passkey/.test(name)) recordSecret('a challenge', value);
  recordSecret('a challenge', options.challenge);
  const credential = createAuthenticator(app.url).create(options);
  const added = { form_token, name: 'Phone', credential };
  expect((await askAsScript(app, visitor, '/account/passkeys', added)).status).toBe(200);
}

async function resets(): Promise<void> {
  const visitor = createVisitor(app);
  await visitor.post('/reset', { email });
  const path = await linkInMail('a link to reset the password');
  const password = recordSecret('another password', 'forty storks on the chimney');
  expect((await visitor.post(path, { password })).status).toBeLessThan(400);
}

/** Apps of every type use every token, correctly and incorrectly. */
async function letsAppsIn(): Promise<void> {
  const browser = await oauth.browserOf(app, await signIn(app));
  const confidential = await oauth.registerApp(app, { confidential: true });
  recordSecret('the secret of an app', confidential.secret);
  const once = { 'idempotency-key': 'rotate' };
  const path = `/api/v1/oauth-apps/${confidential.id}/rotate-secret`;
  const { json: rotated } = await app.call('POST', path, { graceHours: 1 }, once);
  expect((await app.call('POST', path, { graceHours: 1 }, once)).json).toEqual(rotated);
  recordSecret('the next secret of an app', rotated.secret);

  for (const [clientType, params] of [
    ['api', {}],
    ['mcp', { resource: `${app.url}/api/mcp/streamable-http` }],
  ] as const) {
    const proof = oauth.pkce();
    const back = await oauth.consent(browser, oauth.authorizePath(confidential, proof.challenge, params));
    const code = recordSecret(`a code, ${clientType}`, back.searchParams.get('code'));
    recordSecret(`a verifier, ${clientType}`, proof.verifier);
    const { json } = await oauth.exchange(app, confidential, code, proof);
    recordSecret(`an access token, ${clientType}`, json.access_token);
    recordSecret(`a refresh token, ${clientType}`, json.refresh_token);
    const { json: next } = await oauth.refresh(app, confidential, json.refresh_token);
    recordSecret(`the next access token, ${clientType}`, next.access_token);
    recordSecret(`the next refresh token, ${clientType}`, next.refresh_token);
    await app.clientOf(next.access_token)('POST', '/api/v1/issues', { team: 'ENG', title: 'By an app' });
    await post(
      app,
      toolCall('issues_create', { team: 'ENG', title: 'By an agent' }),
      bearer(next.access_token),
    );
    await fetch(`${app.url}/api/v1/issues?access_token=${next.access_token}`);
    await oauth.ask(app, '/oauth/introspect', confidential, { token: next.access_token });
    // Twice: reuse of a code revokes its tokens and is logged.
    await oauth.exchange(app, confidential, code, proof);
    await oauth.refresh(app, confidential, json.refresh_token);
  }
}

async function registersAndBeginsOnDevice(): Promise<void> {
  const registered: Json = await fetch(`${app.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: ['https://app.example/callback'] }),
  }).then((response) => response.json());
  recordSecret('the secret of a client', registered.client_secret);
  const token = recordSecret('the management token of a registration', registered.registration_access_token);
  await fetch(registered.registration_client_uri, { headers: bearer(token) });
  const client = { id: 'tatami-cli', secret: null, redirectUri: '' };
  const { json: device } = await oauth.ask(app, '/oauth/device', client, {});
  recordSecret('the code of a device', device.device_code);
  recordSecret('the code that a person types', device.user_code.replace('-', ''));
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  await oauth.ask(app, '/oauth/token', client, { grant_type, device_code: device.device_code });
}

/** Reads everything with a key of the owner. */
async function readEverything(): Promise<void> {
  for (const path of [
    'events?limit=200',
    'audit-log',
    'members',
    'grants',
    'oauth-apps',
    'api-keys',
    'me',
    'inbox',
  ])
    answers.push((await app.call('GET', `/api/v1/${path}`)).text);
  for (const path of ['/api/v1/openapi.json', '/.well-known/oauth-authorization-server'])
    answers.push(await (await fetch(app.url + path)).text());
}

/** A backup is compressed, so its restored directory is searched. */
async function restored(): Promise<string> {
  const { path } = await makeBackup({
    ...{ dataDir: app.dataDir, folder: join(app.dataDir, 'of-backups'), withKey: false, version: '0.0.0' },
    nowMs: app.clock.nowMs,
    onStep: () => undefined,
  });
  const dataDir = join(app.dataDir, 'of-a-backup');
  const source = await openSource(path, null, () => {
    throw new Error('The source is a snapshot, not a continuous copy.');
  });
  await restoreBackup({ source, dataDir, key: null, nowMs: app.clock.nowMs, onProgress: () => undefined });
  return dataDir;
}

test('passwords, links, sessions, codes, tokens and secrets of apps are stored nowhere in plain text', async () => {
  const visitor = await joins();
  await addsFactors(visitor);
  await letsAppsIn();
  await registersAndBeginsOnDevice();
  await resets();
  await app.settled();
  await readEverything();
  expect(new Set(secrets.values()).size).toBe(secrets.size);
  expect(secrets.size).toBeGreaterThan(40);

  const database = join(app.dataDir, 'tatami.db');
  const reader = new Database(database, { readonly: true });
  const packed = reader.prepare('SELECT packed FROM events WHERE packed IS NOT NULL').all() as {
    packed: ArrayBuffer;
  }[];
  reader.close();
  const backup = await restored();
  const files = filesUnder(app.dataDir);
  for (const part of ['tatami.db', 'tatami.db-wal']) expect(files).toContain(join(app.dataDir, part));
  expect(files.some((path) => path.startsWith(backup) && path.endsWith('.db'))).toBe(true);
  const contents = new Map<string, Buffer>([
    ['the log', Buffer.from(JSON.stringify(app.logs))],
    ['the packed events', Buffer.concat(packed.map((event) => Bun.zstdDecompressSync(event.packed)))],
    ['the answers', Buffer.from(answers.join('\n'))],
    ...files.map((path) => [path, readFileSync(path)] as const),
  ]);
  expect(findSecrets(contents, secrets)).toEqual([]);
  // Control: a value that is no secret is found, so the search covers the right files.
  const matchedPaths = findSecrets(contents, new Map([['the address', email]])).map(
    (words) => words.split(' in ')[1],
  );
  expect(matchedPaths).toEqual(
    expect.arrayContaining(['the answers', `${database}-wal`, join(backup, 'tatami.db')]),
  );
}, 60_000);
