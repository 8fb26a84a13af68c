// Input that a command asks for: a text in an editor, a secret, a confirmation. Questions are answered in a real terminal.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from '../../features/plugins/pack.ts';
import { programCommand } from '../../program.ts';
import { runInTerminal } from '../pseudo-terminal.ts';
import { tatami, temporary } from '../tatami.ts';

const dir = temporary();
let app: TestApp;
let env: Record<string, string>;
beforeAll(async () => {
  app = await startApp();
  env = {
    TATAMI_SERVER: app.url,
    TATAMI_TOKEN: app.workspace.apiKey,
    XDG_CONFIG_HOME: '/nonexistent',
    EDITOR: `${dir.path('edit')} --wait`,
    SEEN: dir.path('seen'),
    FACTS: dir.path('facts'),
  };
  // Stores the text and the file that it was given, and writes the new text.
  writeFileSync(
    dir.path('edit'),
    `#!/bin/sh
    cp "$2" "$SEEN"
    stat -c '%a %n' "$2" > "$FACTS"
    [ -z "$NEW_TEXT" ] || printf '%s\\n' "$NEW_TEXT" > "$2"
    exit "\${EDITOR_EXIT:-0}"\n`,
    { mode: 0o755 },
  );
});
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

/** Runs a command in a terminal up to a question, answers, and returns everything that was shown. */
async function answered(args: readonly string[], question: string, keys: string, more = {}) {
  const { PATH = '', HOME = '' } = process.env;
  const all = { PATH, HOME, TERM: 'xterm', ...env, ...more };
  const terminal = runInTerminal(programCommand(args), all, dir.path('.'));
  await terminal.until((shown) => shown.includes(question));
  terminal.type(keys);
  const code = await terminal.child.exited;
  return { code, shown: terminal.shown() };
}

const createIssue = async (description = ''): Promise<Json> =>
  (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Typo', description })).json;
const read = async (path: string): Promise<Json> => (await app.call('GET', `/api/v1/${path}`)).json;

describe('an editor', () => {
  const edit = (args: string[], more: Record<string, string>) => tatami(args, { ...env, ...more });
  const seen = (): string => readFileSync(dir.path('seen'), 'utf8');

  test('writes the text of a new object, in a private file that is removed', async () => {
    const { identifier } = await createIssue();
    const created = await edit(['comments', 'create', identifier, '--editor', '--json'], {
      NEW_TEXT: 'Seen.\n\nTwice.',
    });
    expect([created.code, created.json.body, seen()]).toEqual([0, 'Seen.\n\nTwice.', '']);
    const [mode, path = ''] = readFileSync(dir.path('facts'), 'utf8').trim().split(' ');
    expect([mode, existsSync(path)]).toEqual(['600', false]);
  });

  test('begins a change with the stored text, and a given text with that', async () => {
    const { id, identifier } = await createIssue('Steps:\n1. Save');
    const changed = await edit(['issues', 'update', identifier, '-e'], { NEW_TEXT: 'Fixed' });
    expect([changed.code, seen()]).toEqual([0, 'Steps:\n1. Save']);
    expect(await read(`issues/${id}`)).toMatchObject({ description: 'Fixed', title: 'Typo' });
    const given = ['issues', 'update', identifier, '--description', 'Draft', '-e'];
    expect((await edit(given, { NEW_TEXT: 'Final' })).code).toBe(0);
    expect([seen(), (await read(`issues/${id}`)).description]).toEqual(['Draft', 'Final']);
  });

  test('takes interrupts for itself', async () => {
    const { id, identifier } = await createIssue();
    const words = ['issues', 'update', identifier, '--editor'];
    const editor = `#!/bin/sh\ntrap 'printf Survived > "$1"; exit 0' INT\necho 'Interrupt me.'\nread _\n`;
    writeFileSync(dir.path('patient'), editor, { mode: 0o755 });
    const { code } = await answered(words, 'Interrupt me.', '\u0003', { EDITOR: dir.path('patient') });
    expect([code, (await read(`issues/${id}`)).description]).toEqual([0, 'Survived']);
  });

  test('opens in a terminal for a text that is required and missing', async () => {
    const { id, identifier } = await createIssue();
    const { code } = await answered(['comments', 'create', identifier], 'Typed', '', { NEW_TEXT: 'Typed' });
    expect(code).toBe(0);
    expect((await read(`issues/${id}/comments`)).data).toMatchObject([{ body: 'Typed' }]);
  });

  test('opens only once the other required flags are given', async () => {
    writeFileSync(dir.path('seen'), 'not opened');
    const { code, err } = await edit(['issues', 'create', '--team', 'ENG', '--editor'], { NEW_TEXT: 'Lost' });
    expect([code, err]).toEqual([2, expect.stringContaining('--title is required')]);
    expect(seen()).toBe('not opened');
  });

  test('saves the text of a request that fails, for the next attempt', async () => {
    const words = ['comments', 'create', 'ENG-999', '--editor'];
    const { code, err } = await edit(words, { NEW_TEXT: 'A long\n\ncomment.' });
    const [, path = ''] = /Your text is saved\. Send it with --body @(\S+)\.\n/.exec(err) ?? [];
    expect([code, readFileSync(path, 'utf8')]).toEqual([1, 'A long\n\ncomment.']);
    rmSync(dirname(path), { recursive: true });
  });

  test.each([
    ['an unchanged text', {}, 1, 'The text was not changed, so nothing was sent.'],
    ['an editor that fails', { NEW_TEXT: 'Lost', EDITOR_EXIT: '3' }, 1, 'failed, so nothing was sent.'],
    ['no editor', { EDITOR: '' }, 2, 'Set VISUAL or EDITOR'],
  ])('%s sends nothing', async (_, more, code, message) => {
    const { id, identifier } = await createIssue('Stored');
    const ended = await edit(['issues', 'update', identifier, '--title', 'New', '--editor'], more);
    expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(message)]);
    expect(await read(`issues/${id}`)).toMatchObject({ title: 'Typo', description: 'Stored', version: 1 });
  });
});

describe('a secret', () => {
  const words = ['plugins', 'secrets', 'set', 'caller', 'ACME_KEY'];
  const setAt = async (): Promise<string | null> => (await read('plugins/caller')).secrets[0].setAt;
  beforeAll(async () => {
    await install(
      app.call,
      await packSource(`{
        id: 'caller', version: '1.0.0', engines: { tatami: '*' },
        net: [{ origin: 'https://203.0.114.9', methods: ['POST'], path: '/', why: 'classifies' }],
        secrets: { ACME_KEY: { hosts: ['https://203.0.114.9'], header: 'x-key' } },
        schedules: { nightly: { cron: '0 3 * * *', handle: () => {} } },
      }`),
    );
  });

  test.each([
    ['an empty one', words, '\n', 'The value is empty.'],
    ['one that is too short', words, 'sk_1234\n', '8'],
    ['one in a flag', [...words, '--value', 'sk_12345678'], 'sk_12345678', "unknown option '--value'"],
  ])('is refused: %s', async (_, args, input, message) => {
    const { code, out, err } = await tatami(args, env, input);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)]);
    expect(err).not.toContain('sk_1234');
    expect(await setAt()).toBeNull();
  });

  test('is read from standard input without its line end', async () => {
    const { code, out, err } = await tatami(words, env, 'sk_12345\n');
    expect([code, out + err]).toEqual([0, expect.not.stringContaining('sk_12345')]);
    expect(await setAt()).not.toBeNull();
  });

  test('is typed in a terminal without being shown', async () => {
    app.clock.advance(1_000);
    const before = await setAt();
    const { code, shown } = await answered(words, 'value (hidden): ', 'sk_typed_here\r');
    expect([code, shown]).toEqual([0, expect.not.stringContaining('sk_typed')]);
    expect(await setAt()).not.toBe(before);
  });

  test.each([
    ['an interrupt', 'sk_typed\u0003', 130, 'Interrupted.'],
    ['the end of the input', '\u0004', 2, 'The value is empty.'],
  ])('is not set after %s', async (_, keys, status, message) => {
    app.clock.advance(1_000);
    const before = await setAt();
    const { code, shown } = await answered(words, 'value (hidden): ', keys);
    expect([code, shown]).toEqual([status, expect.stringContaining(message)]);
    expect(await setAt()).toBe(before);
  });
});

describe('a confirmation', () => {
  const question = (name: string): string => `Delete a label: ${name}? [y/N] `;
  const exists = async (name: string): Promise<boolean> =>
    (await read('labels')).data.some((label: Json) => label.name === name);
  const label = (name: string) => app.call('POST', '/api/v1/labels', { name });

  test.each([
    ['y', 'y\r'],
    ['yes', 'YES\r'],
  ])('is given by %s', async (name, keys) => {
    await label(name);
    const { code, shown } = await answered(['labels', 'delete', name], question(name), keys);
    expect([code, shown]).toEqual([0, expect.stringContaining('Done: delete a label')]);
    expect(await exists(name)).toBe(false);
  });

  test('of the scopes of a plugin installs it', async () => {
    const document = await packSource(
      `{ id: 'asked', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'reads' } },
      on: { 'issue.created': { handle: () => {} } } }`,
    );
    writeFileSync(dir.path('asked.json'), JSON.stringify(document));
    const words = ['plugins', 'install', dir.path('asked.json')];
    const declined = await answered(words, 'Install and grant? [y/N] ', '\r');
    expect([declined.code, (await read('plugins/asked')).error.code]).toEqual([1, 'not_found']);
    const given = await answered(words, 'Install and grant? [y/N] ', 'y\r');
    expect([given.code, (await read('plugins/asked')).pluginId]).toEqual([0, 'asked']);
  });

  test.each([
    ['no', 'n\r', 1, 'Nothing was changed.'],
    ['another word', 'yep\r', 1, 'Nothing was changed.'],
    ['an empty line', '\r', 1, 'Nothing was changed.'],
    ['the end of the input', '\u0004', 1, 'Nothing was changed.'],
    ['an interrupt', '\u0003', 130, 'Interrupted.'],
  ])('is declined by %s', async (name, keys, status, message) => {
    await label(name);
    const { code, shown } = await answered(['labels', 'delete', name], question(name), keys);
    expect([code, shown]).toEqual([status, expect.stringContaining(message)]);
    expect(await exists(name)).toBe(true);
  });
});
