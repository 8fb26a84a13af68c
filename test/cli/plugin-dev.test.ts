// `tatami plugins dev` follows the folder of a plugin and its runs.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { startApp, type TestApp } from '../app.ts';
import { collect, spawnTatami, tatami, temporary } from './tatami.ts';

const dir = temporary();
let app: TestApp;
const env = () => ({ TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey });
beforeAll(async () => void (app = await startApp()));
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

const createIssue = (title: string) => app.call('POST', '/api/v1/issues', { team: 'ENG', title });

test('each change of the folder is installed, runs are shown as they end, and a broken file waits for its repair', async () => {
  const folder = dir.path('hello');
  expect((await tatami(['plugins', 'new', 'hello', '--dir', folder])).code).toBe(0);
  const source = readFileSync(`${folder}/plugin.ts`, 'utf8');
  const child = spawnTatami(['plugins', 'dev', folder, '--yes'], env());
  const [output, messages] = [collect(child.stdout), collect(child.stderr)];
  await messages.until((text) => text.includes('Watching'));
  expect(output.text()).toContain('hello 0.1.0 installed as plg_');
  expect(messages.text()).toContain('Read issues');

  await createIssue('First');
  await output.until((text) => text.includes('greeted ENG-1'));

  writeFileSync(`${folder}/plugin.ts`, `${source}\nsyntax error(`);
  await messages.until((text) => text.includes('Waiting for the next change.'));
  expect(messages.text()).toMatch(/plugin\.ts:\d+:\d+: /);

  writeFileSync(`${folder}/plugin.ts`, source.replace('greeted', 'welcomed'));
  await output.until((text) => text.split('installed as plg_').length === 3);
  await createIssue('Second');
  await output.until((text) => text.includes('welcomed ENG-2'));
  // The same requests are not shown and granted again.
  expect(messages.text().split('Read issues').length).toBe(2);

  child.kill('SIGINT');
  expect(await child.exited).toBe(130);
  expect(output.text().split('greeted ENG-1').length).toBe(2);
});

test('a folder that cannot be packed at first ends the command', async () => {
  const ended = await tatami(['plugins', 'dev', dir.path('missing'), '--yes'], env());
  expect([ended.code, ended.out]).toEqual([1, '']);
});

test('a failed attempt is shown at once, also where it will be repeated; the next change enables a paused plugin', async () => {
  const folder = dir.path('failing');
  expect((await tatami(['plugins', 'new', 'failing', '--dir', folder])).code).toBe(0);
  const source = readFileSync(`${folder}/plugin.ts`, 'utf8');
  writeFileSync(
    `${folder}/plugin.ts`,
    source.replace('ctx.log.info', `throw new Error('boom'); ctx.log.info`),
  );
  const child = spawnTatami(['plugins', 'dev', folder, '--yes'], env());
  const [output, messages] = [collect(child.stdout), collect(child.stderr)];
  await messages.until((text) => text.includes('Watching'));
  await createIssue('Third');
  await output.until((text) => text.includes('retrying') && text.includes('Error: boom'));

  await app.call('PATCH', '/api/v1/plugins/failing', { state: 'paused_by_admin' });
  writeFileSync(`${folder}/plugin.ts`, source.replace('greeted', 'recovered'));
  await output.until((text) => text.split('installed as plg_').length === 3);
  await createIssue('Fourth');
  await output.until((text) => text.includes('recovered'));
  child.kill('SIGINT');
  expect(await child.exited).toBe(130);
});
