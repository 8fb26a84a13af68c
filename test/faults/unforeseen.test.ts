// An uncaught bug ends `tatami serve` with exit code 1 and one log entry with the complete chain of causes.
// Acknowledged data exists after the next start. Failed background work ends nothing, and is retried.
// docs/architecture.md › When something breaks.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Json } from '../app.ts';
import { collect, serveTatami, spawnTatami, tatami, temporary } from '../cli/tatami.ts';

const preload = join(import.meta.dir, 'bug-process.ts');

const dir = temporary();
const dataDir = dir.path('data');
const serve = ['serve', '--data-dir', dataDir, '--port', '0', '--json'];
let headers: Record<string, string>;
beforeAll(async () => {
  const { json } = await tatami([
    'init',
    ...serve.slice(1, 3),
    '--workspace',
    'A',
    '--team',
    'ENG',
    '--json',
  ]);
  headers = { authorization: `Bearer ${json.apiKey}`, 'content-type': 'application/json' };
});
afterAll(() => dir[Symbol.dispose]());

const ownBug = /^Error: a bug\n(.*\n)*caused by TypeError: its cause\n/;

test.each([
  ['throws', 'an exception was not caught; the process ends', ownBug],
  ['rejects', 'a rejection was not handled; the process ends', ownBug],
  [
    'writer throws',
    'an exception was not caught; the process ends',
    /^StoreError: The writer thread ended\.\n(.*\n)*caused by SyntaxError: JSON Parse error/,
  ],
])('an uncaught bug ends the process: %s', async (bug, message, cause) => {
  const broken = spawnTatami(serve, { BUG: bug }, [`--preload=${preload}`]);
  const { url } = JSON.parse(await firstLine(broken.stdout));
  const body = JSON.stringify({ team: 'ENG', title: `acknowledged: ${bug}` });
  expect((await fetch(`${url}/api/v1/issues`, { method: 'POST', headers, body })).status).toBe(201);
  broken.kill('SIGUSR2');
  const said = await new Response(broken.stderr).text();
  expect(await broken.exited).toBe(1);
  const errors = said
    .split('\n')
    .filter((line) => line.includes('"level":"error"'))
    .map((line) => JSON.parse(line));
  // Each failed write logs its own entry; the reason of the exit is logged once, and last.
  expect(errors.filter(({ msg }) => msg.includes('the process ends'))).toEqual([errors.at(-1)]);
  expect(errors.at(-1)).toMatchObject({ level: 'error', msg: message });
  expect(errors.at(-1).error).toMatch(cause);
  if (bug !== 'writer throws') expect(errors).toHaveLength(1);

  const next = spawnTatami(serve);
  const again = JSON.parse(await firstLine(next.stdout));
  const issues = await (await fetch(`${again.url}/api/v1/issues`, { headers })).json();
  expect(issues).toMatchObject({
    data: expect.arrayContaining([expect.objectContaining({ title: `acknowledged: ${bug}` })]),
  });
  next.kill('SIGTERM');
  expect(await next.exited).toBe(0);
});

test('failed background work is logged with its run, waits, and is completed by a later start', async () => {
  using dir = temporary();
  const args = ['--data-dir', dir.path('data'), '--first-start', '--json'];
  // An invalid Node path, so that no sidecar starts.
  const without = await serveTatami([...args, '--node-path', '/bin/false']);
  const { apiKey } = JSON.parse(without.start);
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ team: 'ENG', title: 'Crash when saving' });
  await fetch(`${without.url}/api/v1/issues`, { method: 'POST', headers, body });
  await without.said('"msg":"work failed","kind":"run"');
  expect((await fetch(`${without.url}/healthz`)).status).toBe(200);
  without.child.kill('SIGTERM');
  expect(await without.child.exited).toBe(0);

  const { child, url } = await serveTatami(args);
  const get = async (path: string): Promise<Json> =>
    (await fetch(`${url}/api/v1${path}`, { headers })).json();
  const [plugin] = (await get('/plugins')).data;
  const runs = async (): Promise<Json> => (await get(`/plugins/${plugin.id}/runs`)).data;
  while (!['succeeded', 'dead'].includes((await runs())[0].status)) await Bun.sleep(100);
  expect(await runs()).toMatchObject([{ status: 'succeeded' }]);
  child.kill('SIGTERM');
  expect(await child.exited).toBe(0);
});

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const output = collect(stream);
  await output.until((text) => text.includes('\n'));
  return output.text();
}
