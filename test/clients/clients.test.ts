// Clients that `openapi-typescript` and `@hey-api/openapi-ts` generate from the OpenAPI document compile
// under `strict`, and a scenario for each runs against a server.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { startApp, type TestApp } from '../app.ts';
import type { ClientReport } from './client-report.ts';

/** The project of an integrator: generated clients, scenarios and npm packages. */
const folder = mkdtempSync(join(tmpdir(), 'tatami-clients-'));
const receiver = 'https://hooks.acme.example/tatami';
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ resolve: () => Promise.resolve([{ address: '93.184.216.34', family: 4 }]) });
  const document = (await app.clientOf(null)('GET', '/api/v1/openapi.json')).json;
  cpSync(import.meta.dir, folder, { recursive: true });
  symlinkSync(join(import.meta.dir, '../../node_modules'), join(folder, 'node_modules'));
  const types = astToString(await openapiTypescript(document));
  writeFileSync(join(folder, 'openapi-typescript/schema.ts'), types);
  await createClient({
    input: document,
    output: { path: join(folder, 'hey-api/generated') },
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    logs: { level: 'silent', file: false },
  });
  const compilerOptions = {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  const include = ['openapi-typescript', 'hey-api'];
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
});

function typeCheck(): { code: number; output: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, 'check'], { cwd: folder });
  return { code: exitCode, output: `${stdout.toString()}${stderr.toString()}` };
}

test('both clients and their scenarios compile under strict', () => {
  const { code, output } = typeCheck();
  expect([code, code === 0 ? '' : output]).toEqual([0, '']);
}, 60_000);

test('their types reject what the server rejects, and mark the fields that are always present', () => {
  const file = join(folder, 'openapi-typescript/scenario.ts');
  const scenario = readFileSync(file, 'utf8');
  const wrong: [from: string, to: string][] = [
    ["priority: 'high', labels", "priority: 'hot', labels"],
    ["team: 'ENG', title: 'Saving fails'", "team: 'ENG', titel: 'Saving fails'"],
    ["code === 'validation_failed'", "code === 'validation_field'"],
    ['issue.state.type', 'issue.state.kind'],
  ];
  const changed = wrong.reduce((text, [from, to]) => text.replace(from, to), scenario);
  writeFileSync(file, changed);
  const { output } = typeCheck();
  writeFileSync(file, scenario);
  for (const [, to] of wrong) {
    const line = changed.slice(0, changed.indexOf(to)).split('\n').length;
    expect([to, output]).toEqual([to, expect.stringContaining(`scenario.ts(${line},`)]);
  }
}, 60_000);

const seen: ClientReport = {
  identifier: 'ENG-1',
  replayed: true,
  listed: ['ENG backlog Logout hangs', 'ENG backlog Search is empty', 'ENG backlog Saving fails'],
  high: ['Saving fails'],
  patched: 'urgent',
  stale: 'precondition_failed',
  comment: 'user on ENG-1',
  secret: 'whsec_',
  refused: ['title too_short', 'title invalid_format'],
};

for (const client of ['openapi-typescript', 'hey-api'])
  test(`a scenario runs with the client of ${client}`, async () => {
    const { apiKey } = await app.addWorkspace(client, 'ENG');
    const { play } = (await import(join(folder, client, 'scenario.ts'))) as {
      play(server: string, token: string, receiver: string): Promise<ClientReport>;
    };
    expect(await play(app.url, apiKey, receiver)).toEqual(seen);
    const feed = await app.clientOf(apiKey)('GET', '/api/v1/events?types=issue.*,comment.*,webhook.*');
    expect(feed.json.data.map(({ type }: { type: string }) => type)).toEqual([
      'issue.created',
      'issue.created',
      'issue.created',
      'issue.updated',
      'comment.added',
      'webhook.created',
    ]);
  }, 60_000);
