// `tatami rules` with a folder of files and a real server.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { startApp, type Json, type TestApp } from '../app.ts';
import { tatami, temporary } from './tatami.ts';

const v1 = '/api/v1';
let app: TestApp;
let dir: ReturnType<typeof temporary>;
let folders = 0;
let folder: string;

beforeAll(async () => {
  app = await startApp();
  dir = temporary();
});
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});
beforeEach(async () => {
  for (const { id } of await automations()) await app.call('DELETE', `${v1}/automations/${id}`);
  folder = dir.path(`rules-${++folders}`);
  mkdirSync(folder);
});

const automations = async (): Promise<Json[]> => (await app.call('GET', `${v1}/automations`)).json.data;
const rules = (...args: string[]) =>
  tatami(['rules', ...args], { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey });
const put = (name: string, text: string): void => writeFileSync(`${folder}/${name}`, text);
const read = (name: string): string => readFileSync(`${folder}/${name}`, 'utf8');

const urgent = `# Comments remain.
name: Urgent crashes
description: >
  Crashes come
  first.
trigger: { type: event, event: issue.created, filter: { title: { contains: crash } } }
actions:
  - { type: set, fields: { priority: urgent } }
`;

test('a plan lists what apply does, and a second apply changes nothing', async () => {
  put('urgent.yaml', urgent);
  for (const title of ['A crash', 'A typo']) await app.call('POST', `${v1}/issues`, { team: 'ENG', title });
  await app.settled();
  const planned = await rules('plan', folder);
  expect(planned.code).toBe(3);
  expect((await rules('plan', folder, '--no-such-flag')).code).toBe(2);
  expect(planned.out).toContain(`create  ${folder}/urgent.yaml  Urgent crashes\n`);
  expect(planned.out).toMatch(
    /In the last 90 days with \d+ events it would have run 1 time: change priority 1 time \(nobody changed it later\)\.\n/,
  );
  expect(planned.err).not.toContain(' runs');
  expect(await automations()).toEqual([]);

  const applied = await rules('apply', folder, '--yes', '--json');
  expect([applied.code, applied.json.steps]).toMatchObject([
    0,
    [{ does: 'create', name: 'Urgent crashes', state: 'paused' }],
  ]);
  const [before] = await automations();
  expect(before).toMatchObject({ name: 'Urgent crashes', state: 'paused', revision: 1 });
  const again = await rules('apply', folder, '--yes');
  expect([again.code, again.out]).toEqual([0, 'No differences.\n']);
  expect(await automations()).toMatchObject([{ id: before.id, version: before.version }]);
  expect((await rules('plan', folder, '--json')).code).toBe(0);
}, 60_000);

test('a change of a field is shown in words, applied as a new revision, and starts probation again', async () => {
  put('urgent.yaml', urgent);
  await rules('apply', folder, '--yes');
  put('urgent.yaml', `${urgent.replace('priority: urgent', 'priority: high, estimate: 3')}enabled: true\n`);
  const planned = await rules('plan', folder, '--no-backtest', '--json');
  expect([planned.code, planned.json.steps[0].differences]).toEqual([
    3,
    [
      { path: 'actions.0.fields.priority', before: 'urgent', after: 'high' },
      { path: 'actions.0.fields.estimate', after: 3 },
      { path: 'enabled', before: false, after: true },
    ],
  ]);
  const text = await rules('plan', folder, '--no-backtest');
  expect(text.out).toContain('actions.0.fields.priority: "urgent" → "high"\n');
  expect(text.out).toContain('actions.0.fields.estimate: add 3\n');
  await rules('apply', folder, '--yes', '--no-probation');
  expect(await automations()).toMatchObject([{ state: 'active', revision: 2, probation: null }]);
  const { json } = await app.call('POST', `${v1}/issues`, { team: 'ENG', title: 'Another crash' });
  await app.settled();
  expect((await app.call('GET', `${v1}/issues/${json.id}`)).json).toMatchObject({
    priority: 'high',
    estimate: 3,
  });
  put('urgent.yaml', read('urgent.yaml').replace('estimate: 3', 'estimate: 5'));
  expect((await rules('plan', folder, '--no-backtest')).out).toContain(
    'The rule will propose its changes again until people approved 20 runs, unless applied with --no-probation.\n',
  );
  expect((await rules('apply', folder, '--yes')).out).toEndWith('  active, proposes its next 20 runs\n');
  put('urgent.yaml', read('urgent.yaml').replace('enabled: true', 'enabled: false'));
  expect((await rules('apply', folder, '--yes')).out).toEndWith('  paused\n');
  expect(await automations()).toMatchObject([{ state: 'paused', revision: 3 }]);
}, 60_000);

test('a rule on probation is shown, and --no-probation ends the probation of a rule that is otherwise equal', async () => {
  put('urgent.yaml', urgent);
  await rules('apply', folder, '--yes');
  expect((await rules('plan', folder)).out).toBe(
    'No differences.\nOn probation until people approve more runs, or until applied with --no-probation: Urgent crashes (20 runs)\n',
  );
  put('urgent.yaml', `${urgent}enabled: true\n`);
  const enabled = await rules('apply', folder, '--yes', '--no-probation');
  expect(enabled.out).toEndWith('  active\n');
  expect(await automations()).toMatchObject([{ state: 'active', revision: 1, probation: null }]);
  const [{ id }] = await automations();
  await app.call('PATCH', `${v1}/automations/${id}`, { probation: true });
  const ended = await rules('apply', folder, '--yes', '--no-probation');
  expect(ended.out).toMatch(/^changed {2}\S+urgent\.yaml {2}atm_\w+ {2}active\n$/);
  expect(await automations()).toMatchObject([{ state: 'active', revision: 1, probation: null }]);
  expect((await rules('apply', folder, '--yes', '--no-probation')).out).toBe('No differences.\n');
}, 60_000);

test('pull writes one file per automation, is idempotent, and leaves comments and other files', async () => {
  put('urgent.yaml', urgent);
  put('notes.txt', 'mine');
  await rules('apply', folder, '--yes');
  for (const name of ['Größe ändern', 'Grosse andern', 'Grosse andern'])
    await app.call('POST', `${v1}/automations`, {
      ...{ name, mode: 'propose', description: 'Line one\nLine two: #' },
      trigger: { event: 'issue.updated', type: 'event', changed: ['priority'] },
      actions: [{ body: '{{ issue.title }}', type: 'comment', once: true }],
    });
  const first = await rules('pull', folder, '--json');
  expect(first.json.files.map(({ result }: Json) => result)).toEqual([
    ...['unchanged', 'written', 'written', 'written'],
  ]);
  expect(read('urgent.yaml')).toBe(urgent);
  await app.call('POST', `${v1}/automations`, {
    ...{ name: 'Applies', trigger: { type: 'manual' }, actions: [{ type: 'comment', body: 'Hi' }] },
  });
  await rules('pull', folder);
  expect(read('applies.yaml')).not.toContain('mode:');
  rmSync(`${folder}/applies.yaml`);
  await app.call('DELETE', `${v1}/automations/${(await automations()).at(-1)!.id}`);
  expect(readdirSync(folder).toSorted()).toEqual([
    ...['gro-e-andern.yaml', 'grosse-andern-2.yaml', 'grosse-andern.yaml'],
    ...['notes.txt', 'rule.schema.json', 'urgent.yaml'],
  ]);
  const [, other] = await automations();
  expect(read('gro-e-andern.yaml')).toBe(`# yaml-language-server: $schema=./rule.schema.json
id: ${other.id}
name: Größe ändern
description: "Line one\\nLine two: #"
enabled: false
mode: propose
stepDown:
  share: 0.3
  days: 14
  least: 5
trigger:
  type: event
  event: issue.updated
  changed:
    - priority
actions:
  - type: comment
    body: "{{ issue.title }}"
    once: true
`);
  const text = `# Mine.\n${read('grosse-andern.yaml')}`;
  put('grosse-andern.yaml', text);
  const second = await rules('pull', folder, '--json');
  expect(second.json.files.map(({ result }: Json) => result)).toEqual([
    ...['unchanged', 'unchanged', 'unchanged', 'unchanged'],
  ]);
  expect(read('grosse-andern.yaml')).toBe(text);
  expect((await rules('plan', folder)).code).toBe(0);

  await app.call('DELETE', `${v1}/automations/${other.id}`);
  expect((await rules('pull', folder)).out).toContain(
    `The automation of ${folder}/gro-e-andern.yaml no longer exists.`,
  );
  expect(existsSync(`${folder}/gro-e-andern.yaml`)).toBe(true);
  await rules('pull', folder, '--delete');
  expect(existsSync(`${folder}/gro-e-andern.yaml`)).toBe(false);
}, 60_000);

test('automations without a file are deleted only with --delete, and an empty folder deletes none', async () => {
  put('urgent.yaml', urgent);
  await rules('apply', folder, '--yes');
  put('urgent.yaml', urgent.replace('Urgent crashes', 'Renamed'));
  const planned = await rules('plan', folder, '--no-backtest');
  expect(planned.out).toEndWith('Not in the folder, and deleted only with --delete: Urgent crashes\n');
  await rules('apply', folder, '--yes');
  expect((await automations()).map(({ name }) => name)).toEqual(['Urgent crashes', 'Renamed']);
  const applied = await rules('apply', folder, '--yes', '--delete');
  expect(applied.out).toMatch(/^deleted {2}Urgent crashes {2}atm_\w+\n$/);
  expect((await automations()).map(({ name }) => name)).toEqual(['Renamed']);
  rmSync(`${folder}/urgent.yaml`);
  const empty = await rules('apply', folder, '--yes', '--delete');
  expect([empty.code, empty.err]).toEqual([1, expect.stringContaining(`${folder} has no rule files`)]);
  expect((await automations()).map(({ name }) => name)).toEqual(['Renamed']);
}, 60_000);

test('a rule under another name is planned as new, with a hint how to rename the old one', async () => {
  put('urgent.yaml', urgent);
  await rules('apply', folder, '--yes');
  const [{ id }] = await automations();
  put('urgent.yaml', urgent.replace('Urgent crashes', 'Crashes first'));
  const hint = `“Crashes first” may be “Urgent crashes” under another name (${folder}/urgent.yaml); add \`id: ${id}\` to the file to rename it.\n`;
  const planned = await rules('plan', folder, '--no-backtest');
  expect(planned.out).toContain(hint);
  const text = read('urgent.yaml');
  put('other.yaml', urgent.replace('Urgent crashes', 'Another'));
  expect((await rules('plan', folder, '--no-backtest')).out).not.toContain('under another name');
  rmSync(`${folder}/other.yaml`);
  put('urgent.yaml', `id: ${id}\n${text}`);
  expect((await rules('plan', folder, '--no-backtest')).out).toContain(
    'name: "Urgent crashes" → "Crashes first"\n',
  );
  put('urgent.yaml', text);
  const applied = await rules('apply', folder, '--yes');
  expect([applied.out, applied.err]).toEqual([
    expect.stringMatching(/^created /),
    expect.stringContaining(hint),
  ]);
  for (const one of await automations()) await app.call('DELETE', `${v1}/automations/${one.id}`);
  const left = await rules('pull', folder, '--delete');
  expect(left.out).toContain(
    `${folder}/urgent.yaml has no id, and not one automation has its name. Apply the file, or delete it.\n`,
  );
  expect(existsSync(`${folder}/urgent.yaml`)).toBe(true);
}, 60_000);

test('files with another ending and sub-folders are named, and a file is no folder', async () => {
  put('URGENT.YML', urgent);
  put('notes.json', '{}');
  put('.gitkeep', '');
  mkdirSync(`${folder}/team`);
  const planned = await rules('plan', folder, '--no-backtest');
  expect(planned.out).toContain(`create  ${folder}/URGENT.YML  Urgent crashes\n`);
  expect(planned.err).toContain(
    `Ignored, because rules are *.yaml and *.yml files directly in the folder: ${folder}/notes.json, ${folder}/team/\n`,
  );
  await rules('pull', folder);
  expect((await rules('plan', folder, '--no-backtest')).err).not.toContain('schema');
  for (const command of ['plan', 'apply', 'pull']) {
    const refused = await rules(command, `${folder}/URGENT.YML`);
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining(`${folder}/URGENT.YML is a file. Give its folder.\n`),
    ]);
  }
}, 60_000);

test('errors name the file and the path, and nothing is written if any file is wrong', async () => {
  put('a.yaml', urgent);
  put('b.yaml', urgent.replace('Urgent crashes', 'B').replace('priority', 'prioity'));
  put('c.yaml', 'name: C\ntriger: {}\n');
  put('d.yaml', `${urgent}bad: *bold*\nenabled: true\n`);
  put('e.yaml', `${urgent}probation: false\n`);
  put('f.yaml', urgent.replace('priority: urgent', 'title: {{ issue.identifier }}'));
  const unread = await rules('apply', folder, '--yes');
  expect(unread.code).toBe(1);
  expect(unread.err).toContain(`${folder}/c.yaml: triger: There is no such key.`);
  expect(unread.err).toContain('Did you mean trigger?');
  expect(unread.err).toMatch(/d\.yaml: Line 9 is no valid YAML: .+\. Check the indentation, and quote texts/);
  expect(unread.err).toContain(`${folder}/e.yaml: probation: `);
  expect(unread.err).toContain('tatami rules apply --no-probation');
  expect(unread.err).toContain(`${folder}/f.yaml: actions.0.fields.title: Quote texts that start with`);
  for (const name of ['e.yaml', 'f.yaml']) rmSync(`${folder}/${name}`);
  put('c.yaml', urgent.replace('Urgent crashes', 'C').replace('contains: crash', 'contains: 7'));
  put(
    'd.yaml',
    urgent.replace('Urgent crashes', 'D').replace('name:', 'id: atm_01m7wd7tg0000sampe00000001\nname:'),
  );
  const refused = await rules('apply', folder, '--yes', '--json');
  expect([refused.code, refused.json.error.message.split('\n')]).toEqual([
    1,
    [
      expect.stringMatching(/d\.yaml: id: The server has no such automation\. Remove `id` to create it\.$/),
      expect.stringContaining(`${folder}/b.yaml: actions.0.fields.prioity: `),
      expect.stringContaining(`${folder}/c.yaml: trigger.filter.title.contains: `),
    ],
  ]);
  expect(await automations()).toEqual([]);
  put('d.yaml', urgent);
  expect((await rules('plan', folder)).err).toContain(
    `${folder}/d.yaml: name: ${folder}/a.yaml has the same name.`,
  );
  const missing = await rules('plan', dir.path('none'));
  expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('rules pull')]);
}, 60_000);

test('missing scopes are reported with each file that needs them', async () => {
  const scopes = ['automations:read', 'automations:write', 'issues:read', 'issues:write'];
  const { status, json } = await app.call('POST', `${v1}/api-keys`, { name: 'Rules', scopes });
  expect(status).toBe(201);
  const comment = (name: string): string =>
    urgent.replace('Urgent crashes', name).replace('set, fields: { priority: urgent }', 'comment, body: Hi');
  put('a.yaml', comment('A'));
  put('b.yaml', urgent);
  put('c.yaml', comment('C'));
  const env = { TATAMI_SERVER: app.url, TATAMI_TOKEN: json.key };
  const planned = await tatami(['rules', 'plan', folder], env);
  expect([planned.code, planned.err]).toEqual([1, expect.stringContaining('comments:write')]);
  expect(planned.err).toContain(`${folder}/a.yaml: `);
  expect(planned.err).toContain(`${folder}/c.yaml: `);
  expect(planned.err).not.toContain('b.yaml');
  const unknown = await tatami(['rules', 'plan', folder], { ...env, TATAMI_TOKEN: 'tat_wrong' });
  expect(unknown.code).toBe(4);
}, 60_000);

test('a key that a file gives twice is refused with both lines, and texts that look like keys are not', async () => {
  put('a.yaml', `${urgent}actions:\n  - { type: set, fields: { priority: low } }\n`);
  put('b.yaml', urgent.replace('title:', 'title: { contains: boom }, "title":'));
  put('c.yaml', urgent.replace('priority: urgent }', "priority: urgent, 'priority': low }"));
  const refused = await rules('plan', folder);
  expect(refused.err).toContain(
    `${folder}/a.yaml: actions: Line 9 repeats the key of line 7. Keep one of them.`,
  );
  expect(refused.err).toContain(
    `${folder}/b.yaml: trigger.filter.title: Line 6 has the key twice. Keep one of them.`,
  );
  expect(refused.err).toContain(`${folder}/c.yaml: actions.0.fields.priority: Line 8 has the key twice.`);
  for (const name of ['b.yaml', 'c.yaml']) rmSync(`${folder}/${name}`);
  put(
    'a.yaml',
    `${urgent.replace('first.', 'first.\n  name: no key\n  name: no key')}  # type: set\n  - { type: comment, body: 'type: a, type: b' }
  - type: comment
    body: "type: a, type: b"
  - type: comment
    body: |
      type: a
      type: b
`,
  );
  expect((await rules('apply', folder, '--yes')).out).toStartWith('created  ');
}, 60_000);

test('apply asks before it writes, and refuses without a terminal', async () => {
  put('urgent.yaml', urgent);
  const refused = await rules('apply', folder);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('Add --yes')]);
  expect(refused.err).toContain('create  ');
  expect(await automations()).toEqual([]);
}, 60_000);

test('templates are listed, filled and applied as they are', async () => {
  const list = await rules('template', '--json');
  expect(list.json.length).toBeGreaterThan(15);
  const filled = await rules('template', 'first-reply', '--set', 'label=question');
  expect([filled.code, filled.out]).toEqual([0, expect.stringContaining('filter: { label: question }\n')]);
  expect(filled.out).toStartWith('# Adapt: ');
  expect(filled.out).not.toContain('mode:');
  put('reply.yaml', filled.out);
  expect((await rules('apply', folder, '--yes')).out).toMatch(
    /^created {2}\S+reply\.yaml {2}atm_\w+ {2}paused\n$/,
  );
  put('weekly.yaml', (await rules('template', 'recurring-issue')).out);
  expect((await rules('plan', folder)).out).toContain('this one has the trigger schedule.\n');
  const missing = await rules('template', 'on-call-round-robin');
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('--set members=')]);
  const unknown = await rules('template', 'first-replay');
  expect(unknown.err).toContain('Did you mean first-reply?');
  const members = await rules('template', 'on-call-round-robin', '--set', 'members=Ana: A, Ben', '--json');
  expect(members.json.actions[0].members).toEqual(['Ana: A', 'Ben']);
  const schema = await rules('schema', '--json');
  expect(schema.json).toEqual(JSON.parse(readFileSync('docs/automations/rule.schema.json', 'utf8')));
}, 60_000);
