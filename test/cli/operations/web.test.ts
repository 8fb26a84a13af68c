// `--web`: pages of lists and objects.
import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { programCommand } from '../../program.ts';
import { runInTerminal } from '../pseudo-terminal.ts';
import { tatami } from '../tatami.ts';
import { useCommands } from './commands.ts';

const commands = useCommands();
const { run, done, rest, dir } = commands;

test('prints the URL of an object and of a filtered list where nobody has a browser', async () => {
  const { url } = commands.app();
  const issue = await run(['issues', 'show', 'ENG-1', '--web']);
  expect([issue.code, issue.out]).toEqual([0, `${url}/issues/ENG-1\n`]);
  const [project] = (await rest('/projects')).data;
  expect(await done(['projects', 'show', 'Spring release', '--web'])).toEqual({
    url: `${url}/projects/${project.id}`,
  });
  const list = await run(['issues', 'list', '--priority', 'high', '--assignee', 'none', '--web']);
  expect(list.out).toBe(`${url}/issues?assignee=none&priority=high\n`);
  const hook = await done(['webhooks', 'create', '--url', 'https://hooks.example', '--events', 'issue.*']);
  expect((await done(['webhooks', 'show', hook.id, '--web'])).url).toBe(`${url}/webhooks/${hook.id}`);
});

test('a missing object is an error and opens nothing', async () => {
  const { code, out, err } = await run(['issues', 'show', 'ENG-999', '--web']);
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain('ENG-999');
});

test('only commands whose objects have a page take the flag', async () => {
  expect((await run(['labels', 'list', '--web'])).err).toContain("unknown option '--web'");
});

test('in a terminal starts the browser of the user with the URL as one argument, which outlives the terminal', async () => {
  const { url, workspace } = commands.app();
  const [closed, fifo] = [dir.path('closed'), dir.path('opened')];
  Bun.spawnSync(['mkfifo', closed, fifo]);
  const browser = `#!/bin/sh\nread -r _ < '${closed}'\nprintf '%s %s' "$#" "$1" > '${fifo}'\n`;
  writeFileSync(dir.path('browser'), browser, { mode: 0o755 });
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, TERM: 'xterm', XDG_CONFIG_HOME: '/nonexistent', BROWSER: dir.path('browser') };
  const server = { TATAMI_SERVER: url, TATAMI_TOKEN: workspace.apiKey };
  const args = ['issues', 'list', '--label', 'ui, design', '--web'];
  const opened = Bun.spawn(['cat', fifo], { stdout: 'pipe' });
  const terminal = runInTerminal(programCommand(args), { ...env, ...server }, dir.path('.'));
  expect(await terminal.child.exited).toBe(0);
  await Bun.$`echo > ${closed}`;
  expect(await new Response(opened.stdout).text()).toBe(`1 ${url}/issues?label=ui%2C+design`);
  expect(terminal.shown()).toContain('Opened ');
});

test('a login adds its workspace, because a person can have several', async () => {
  const { url } = commands.app();
  const config = dir.path('config');
  const file = `${config}/tatami/credentials.json`;
  mkdirSync(dirname(file), { recursive: true });
  const login = {
    ...{ server: url, scopes: [], accessToken: 'tta_x', refreshToken: 'ttr_x' },
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    ...{ workspace: { id: 'w-1', name: 'Acme' }, member: { id: 'usr_1', name: 'Ana' } },
  };
  writeFileSync(file, JSON.stringify({ version: 1, logins: [login] }), { mode: 0o600 });
  const list = await tatami(['boards', 'list', '--web'], { XDG_CONFIG_HOME: config });
  expect([list.out, list.err]).toEqual([`${url}/boards?workspace=w-1\n`, '']);
});
