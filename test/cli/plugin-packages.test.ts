// The package argument of `tatami plugins`: every command accepts a package file, a folder or a first-party name, and
// sends the signature that a server with required signatures needs.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { newKey, signPackage } from '../../core/features/plugins/installs/versions/signature.ts';
import { startApp, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { tatami, temporary, type CliResult } from './tatami.ts';

const dir = temporary();
const id = 'com.acme.packed';
const acme = newKey();
const day = ['--since', '2026-11-20T00:00:00Z', '--until', '2026-11-21T00:00:00Z'];
let app: TestApp;

const run = (...args: string[]): Promise<CliResult> =>
  tatami(['plugins', ...args], { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey });

const definition = (version: string): string => `{
  id: '${id}', version: '${version}', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'look' } },
  on: { 'issue.created': { handle: async (event, ctx) => { await ctx.kv.set('seen', '${version}'); } } } }`;

/** Writes the package file `NAME.tatami.json` and its signature. */
async function packedFile(version: string): Promise<string> {
  const document = await packSource(definition(version));
  const file = dir.path(`v${version}.tatami.json`);
  writeFileSync(file, JSON.stringify(document));
  writeFileSync(`${file}.sig`, JSON.stringify(signPackage(document, acme.privateKey)));
  return file;
}

beforeAll(async () => {
  app = await startApp({ flags: { pluginTrust: `acme=${acme.publicKey}`, pluginUnsigned: 'refuse' } });
  const document = await packSource(definition('1.0.0'));
  await install(app.call, document, { signature: signPackage(document, acme.privateKey) });
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Seen by a run' });
  await app.settled();
});
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

test('a shadow, a backtest and a gate accept a signed package file where the server rejects unsigned code', async () => {
  const file = await packedFile('1.1.0');
  // The backtest names the signature; the other commands find it beside the file.
  const moved = dir.path('elsewhere.tatami.json');
  renameSync(await packedFile('1.2.0'), moved);
  const [shadow, backtest, gate] = await Promise.all([
    run('shadow', id, '--with', file),
    run('backtest', moved, '--signature', dir.path('v1.2.0.tatami.json.sig'), ...day, '--json'),
    run('install', file, '--gate', '1', '--yes'),
  ]);
  expect([shadow.code, shadow.out]).toEqual([0, expect.stringContaining('1.1.0 next to')]);
  expect([backtest.code, backtest.json]).toMatchObject([0, { pluginVersion: '1.2.0', status: 'done' }]);
  expect([gate.code, gate.err]).toEqual([0, expect.stringContaining('Signed by acme')]);
  expect((await app.call('GET', `/api/v1/plugins/${id}`)).json.pluginVersion).toBe('1.1.0');
});

test('a folder is packed and rejected where the server requires a signature; an invalid package file is reported with the reason', async () => {
  mkdirSync(dir.path('folder'));
  writeFileSync(
    dir.path('folder/plugin.ts'),
    `import { definePlugin } from '@tatami/sdk/plugin';\nexport default definePlugin<any, any>(${definition('2.0.0')});\n`,
  );
  const notes = dir.path('notes.json');
  writeFileSync(notes, '{"format":"notes"}');
  const [folder, none] = await Promise.all([
    run('shadow', id, '--with', dir.path('folder')),
    run('shadow', id, '--with', notes),
  ]);
  // The package reaches the server, which requires a signature.
  expect(folder.err).toContain('accepts only signed packages');
  expect(none.code).toBe(1);
  expect(none.err).toMatch(/^tatami: \S+notes\.json is not a valid package: .*tatami plugins? pack/m);
});
