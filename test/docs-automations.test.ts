// Executes docs/automations: the commands print the documented output, and the API accepts each example.
// UPDATE_DOCS=1 rewrites the output in the documents.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startApp, type Json, type TestApp } from './app.ts';
import { temporary } from './cli/tatami.ts';
import { blocksOf } from './documents/blocks.ts';
import { install, packSource } from './features/plugins/pack.ts';
import { launcher } from './program.ts';

const docs = join(import.meta.dir, '../docs/automations');
const v1 = '/api/v1';
const dir = temporary();
let app: TestApp;

beforeAll(async () => {
  app = await startApp();
  mkdirSync(dir.path('bin'));
  symlinkSync(launcher, dir.path('bin/tatami'));
});
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

const read = (page: string): string => readFileSync(join(docs, page), 'utf8');

/** Masks values that vary between runs. */
const masked = (text: string): string =>
  text
    .replaceAll(/\b([a-z]{3})_[0-9a-z]{26}/g, '$1_…')
    .replaceAll(/with \d+ events?/g, 'with … events')
    .trim();

/** A shell in which the commands of a page run one after the other. */
function openShell(folder: string, token: string) {
  const child = Bun.spawn(['bash'], {
    cwd: folder,
    env: {
      TATAMI_SERVER: app.url,
      TATAMI_TOKEN: token,
      PATH: `${dir.path('bin')}:${process.env.PATH}`,
      HOME: dir.path(''),
    },
    stdin: 'pipe',
    stdout: 'pipe',
  });
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  return {
    async run(command: string): Promise<string> {
      const end = '--- end of the command ---';
      void child.stdin.write(`{ ${command}\n} 2>&1 </dev/null; echo; echo '${end}'\n`);
      void child.stdin.flush();
      let text = '';
      while (!text.includes(`${end}\n`)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`The shell ended after: ${command}\n${text}`);
        text += decoder.decode(value, { stream: true });
      }
      await app.settled();
      return text
        .replace(`${end}\n`, '')
        .replaceAll(/^(Using the server|bkt_\w+).*\n/gm, '')
        .replaceAll(app.url, 'http://127.0.0.1:4700')
        .trim();
    },
    close: () => child.stdin.end(),
  };
}

test.each([
  ['README.md', 20],
  ['git.md', 14],
])(
  '%s shows the actual output of its commands',
  async (name, steps) => {
    const { apiKey } = await app.addWorkspace(name, 'ENG');
    const call = app.clientOf(apiKey);
    if (name === 'git.md')
      await call('POST', `${v1}/automations`, {
        name: 'Triage urgent bugs',
        trigger: { type: 'event', event: 'issue.created', filter: { label: 'bug' } },
        actions: [{ type: 'set', fields: { priority: 'high' } }],
      });
    mkdirSync(dir.path(name));
    const shell = openShell(dir.path(name), apiKey);
    let page = read(name);
    let moved = 0;
    let commands = 0;
    for (const { at, language, text } of blocksOf(page)) {
      if (language !== 'console') continue;
      const parts: string[] = [];
      for (const [command] of text.matchAll(/^\$ .*/gm)) {
        const answer = await shell.run(command.slice(2));
        parts.push(answer === '' ? command : `${command}\n${answer}`);
        commands++;
      }
      const actual = `${parts.join('\n')}\n`;
      if (process.env.UPDATE_DOCS === '1') {
        page = page.slice(0, at + moved) + actual + page.slice(at + moved + text.length);
        moved += actual.length - text.length;
      } else expect(masked(text)).toBe(masked(actual));
    }
    void shell.close();
    if (process.env.UPDATE_DOCS === '1') writeFileSync(join(docs, name), page);
    expect(commands).toBe(steps);
  },
  120_000,
);

test('a reader gets from a template to its first effect in six commands', () => {
  const first = blocksOf(read('README.md')).find(({ language }) => language === 'console');
  expect(first!.text.match(/^\$ /gm)).toHaveLength(6);
});

const selection = { filter: { state: 'started' } };
const comment = { type: 'comment', body: 'Hello.' };
const manual = { type: 'manual' };
/** Rules around the parts that the examples show, by the name of the block. */
const wholes: Readonly<Record<string, (part: Json) => Json>> = {
  rule: ({ trigger, conditions, actions }) => ({ trigger, conditions, actions }),
  trigger: (trigger) => ({ trigger, actions: [comment] }),
  'trigger-of-issues': (trigger) => ({ trigger, issues: selection, actions: [comment] }),
  conditions: (conditions) => ({
    trigger: { type: 'event', event: 'issue.updated', changed: ['title'] },
    conditions,
    actions: [{ type: 'set', fields: { priority: 'low' } }],
  }),
  issues: (issues) => ({ trigger: { type: 'event', event: 'issue.updated' }, issues, actions: [comment] }),
  action: (action) => ({ trigger: manual, actions: [action] }),
};

test('the API accepts each example of the reference', async () => {
  for (const body of [{ name: 'Ana' }, { name: 'Ben' }])
    await app.call('POST', `${v1}/members`, { ...body, role: 'member' });
  await app.call('POST', `${v1}/teams`, { key: 'OPS', name: 'Operations' });
  const { json: pipeline } = await app.call('POST', `${v1}/pipelines`, { name: 'Editor' });
  for (const [path, body] of [
    ['issues', { team: 'ENG', title: 'Related' }],
    ['boards', { name: 'Sprint' }],
    ['releases', { name: 'Spring', tag: '1', pipelineId: pipeline.id }],
  ] as const)
    expect([path, (await app.call('POST', `${v1}/${path}`, body)).status]).toEqual([path, 201]);
  const host = { name: 'chat', origin: 'https://chat.acme.example' };
  expect((await app.call('POST', `${v1}/automation-hosts`, host)).status).toBe(201);
  const escalate = `{
    id: 'escalate', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
    actions: { page: { target: 'issue', input: { type: 'object', additionalProperties: true }, handle: async () => {} } },
  }`;
  await install(app.call, await packSource(escalate));
  const examples = blocksOf(read('reference.md')).filter(({ language }) => language === 'json');
  expect(examples.length).toBeGreaterThan(25);
  for (const { name, text } of examples) {
    const { status, json } = await app.call(
      'POST',
      `${v1}/automations/preview`,
      wholes[name]!(JSON.parse(text)),
    );
    expect([text, status, json.error]).toEqual([text, 202, undefined]);
  }
}, 60_000);

test('the server accepts the signed request of the reference', async () => {
  const rule = { name: 'Disk', trigger: { type: 'webhook' }, issues: selection, actions: [comment] };
  const { id } = (await app.call('POST', `${v1}/automations`, rule)).json;
  await app.call('POST', `${v1}/automations/${id}/enable`, { force: true });
  const { url, secret } = (await app.call('POST', `${v1}/automations/${id}/webhook`, {})).json;
  const { text } = blocksOf(read('reference.md')).find(({ name }) => name === 'signed-request')!;
  const send = (key: string) =>
    Bun.spawn(['bash', '-c', text.replace('$(date +%s)', String(Math.floor(app.clock.nowMs() / 1000)))], {
      env: { ...process.env, URL: url, SECRET: key },
      stderr: 'ignore',
    }).exited;
  expect(await send(secret)).toBe(0);
  expect(await send('whsec_other')).not.toBe(0);
}, 30_000);

test('the reference names each trigger, condition and action of the schema', () => {
  const { properties } = JSON.parse(read('rule.schema.json'));
  const typesOf = (part: Json): string[] => part.anyOf.map((one: Json) => one.properties.type.const);
  const page = read('reference.md');
  const used = (name: string): string[] =>
    blocksOf(page)
      .filter((block) => block.name.startsWith(name))
      .map(({ text }) => JSON.parse(text).type);
  expect([...new Set(used('trigger'))].toSorted()).toEqual(typesOf(properties.trigger).toSorted());
  expect([...new Set(used('action'))].toSorted()).toEqual(typesOf(properties.actions.items).toSorted());
  for (const condition of Object.keys(properties.conditions.properties))
    expect(page).toContain(`| \`${condition}\` |`);
});
