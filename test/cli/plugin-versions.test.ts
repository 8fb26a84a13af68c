// `tatami plugins keygen|sign|verify|consent|versions|rollback` against a server: publisher of a package, consent to a
// version, and rollback.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import { startApp, type Json, type TestApp } from '../app.ts';
import { packSource } from '../features/plugins/pack.ts';
import { tatami, temporary, type CliResult } from './tatami.ts';

const dir = temporary();
const id = 'com.acme.greets';
const path = `/api/v1/plugins/${id}`;
let app: TestApp;
let publicKey: string;

const run = (...args: string[]): Promise<CliResult> =>
  tatami(['plugins', ...args], { TATAMI_SERVER: app?.url ?? '', TATAMI_TOKEN: app?.workspace.apiKey ?? '' });

const greeter = (version: string, more = '') =>
  packSource(`{ id: '${id}', version: '${version}', engines: { tatami: '*' },
    scopes: { 'issues:read': { why: 'look' }, ${more} },
    on: { 'issue.created': { handle: async ({ data }, ctx) => {
      if (ctx.has('comments:write')) await ctx.comments.create(data.id, { body: 'Hello from ${version}' });
    } } } }`);
const wider = () => greeter('1.1.0', `'comments:write': { why: 'greet' }`);

async function greeted(title: string): Promise<string[]> {
  const issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title })).json;
  await app.settled();
  const { data } = (await app.call('GET', `/api/v1/issues/${issue.id}/comments`)).json;
  return data.map(({ body }: Json) => body);
}

beforeAll(async () => {
  const keygen = await run('keygen', dir.path('acme.key'), '--json');
  ({ publicKey } = keygen.json);
  app = await startApp({ flags: { pluginTrust: `acme=${publicKey}` } });
});
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

test('a package with a signature file is attributed to its publisher; a modified one is rejected', async () => {
  expect(statSync(dir.path('acme.key')).mode & 0o077).toBe(0);
  const file = dir.path('greets.json');
  const document = await greeter('1.0.0');
  writeFileSync(file, JSON.stringify(document));
  const signed = await run('sign', file, '--key', dir.path('acme.key'));
  expect([signed.code, signed.out]).toEqual([0, expect.stringContaining(`${file}.sig  signed by the key `)]);
  expect((await run('verify', file, '--public-key', publicKey)).out).toContain(`${id} 1.0.0 is signed by`);

  const altered = { ...document, manifest: { ...document.manifest, name: 'Altered' } };
  writeFileSync(file, JSON.stringify(altered));
  const verified = await run('verify', file, '--public-key', publicKey);
  expect([verified.code, verified.err]).toEqual([
    1,
    expect.stringContaining('was changed after it was signed'),
  ]);
  expect((await run('install', file, '--yes', '--no-probation')).code).toBe(1);
  expect((await app.call('GET', path)).status).toBe(404);

  writeFileSync(file, JSON.stringify(document));
  expect((await run('install', file, '--yes', '--no-probation')).code).toBe(0);
  expect((await app.call('GET', path)).json).toMatchObject({ publisher: 'acme', pluginVersion: '1.0.0' });
});

test('a version with more permissions is shown with its new ones, rejected or consented to, and rolled back', async () => {
  const file = dir.path('wider.json');
  const document = await wider();
  writeFileSync(file, JSON.stringify(document));
  const { json: signature } = await run('sign', file, '--key', dir.path('acme.key'), '--json');
  const { keyId, signature: text } = signature;
  const offer = async (): Promise<string> => {
    const body = { package: document, signature: { keyId, signature: text } };
    return (await app.call('POST', '/api/v1/plugins', body)).json.state;
  };
  expect(await offer()).toBe('needs_consent');
  const refused = await run('consent', id);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('Signed by acme')]);
  expect(refused.err).toMatch(/^ {4}Read issues/m);
  expect(refused.err).toMatch(
    /^ {2}\+ Read comments, and create, change and delete them. \(comments:write: greet\)$/m,
  );
  expect(await greeted('Not consented')).toEqual([]);

  expect((await run('consent', id, '--refuse')).out).toContain(`${id} stays at 1.0.0`);
  expect(await offer()).toBe('needs_consent');
  const from = await app.lastSequence();
  expect((await run('consent', id, '--yes')).out).toContain(`${id} 1.1.0 is installed`);
  expect(await greeted('Consented')).toEqual(['Hello from 1.1.0']);

  const back = await run('rollback', id);
  expect([back.code, back.out]).toEqual([0, expect.stringContaining(`${id} 1.0.0  plg_`)]);
  expect(await greeted('Rolled back')).toEqual([]);
  expect((await run('versions', id)).out).toMatch(/^1\.0\.0 +acme .*\n1\.1\.0 +acme .*$/m);
  await app.settled();
  expect((await app.eventTypes(from)).filter((type) => type.startsWith('plugin.'))).toEqual([
    'plugin.updated',
    'plugin.updated',
  ]);
}, 60_000);
