// Input of the derived commands: names, files, standard input, lists, null, filters, pages, dry runs and conditions.
// Results are compared with REST.
import { beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import type { Json } from '../../app.ts';
import { tatami, type CliResult } from '../tatami.ts';
import { useCommands } from './commands.ts';

const { app, dir, rest, post, run, done, unchanged, newIssue } = useCommands();

describe('values', () => {
  test('an issue is created with names in place of ids', async () => {
    writeFileSync(dir.path('notes.md'), 'Above **60 KiB**, "Save" does nothing.\n');
    const created = await done([
      ...['issues', 'create', '--team', 'ENG', '--title', 'Saving fails', '--state', 'Todo'],
      ...['--priority', 'urgent', '--assignee', 'ana@acme.example', '--labels', '["bug","ui, design"]'],
      ...['--project', 'Spring release', '--milestone', 'Beta', '--parent', 'ENG-1', '--estimate', '2.5'],
      ...[
        '--due-date',
        '2027-01-31',
        '--field',
        'severity=high',
        '--description',
        `@${dir.path('notes.md')}`,
      ],
    ]);
    expect(await rest(`/issues/${created.id}`)).toMatchObject({
      title: 'Saving fails',
      state: { name: 'Todo' },
      priority: 'urgent',
      assignee: { name: 'Ana' },
      labels: [{ name: 'bug' }, { name: 'ui, design' }],
      project: { name: 'Spring release' },
      milestone: { name: 'Beta' },
      parent: { identifier: 'ENG-1' },
      estimate: 2.5,
      dueDate: '2027-01-31',
      fields: { severity: 'high' },
      description: 'Above **60 KiB**, "Save" does nothing.',
    });
  });

  test('null, and an empty text, clear a value; an empty list clears a list', async () => {
    const member = (await rest('/members?limit=100')).data.find(({ name }: Json) => name === 'Ana');
    const { id } = await newIssue('Full', {
      ...{ assigneeId: member.id, labels: ['bug'], estimate: 1, dueDate: '2027-01-31' },
      fields: { severity: 'high' },
    });
    const cleared = ['--assignee', 'null', '--estimate', 'null', '--due-date', '', '--labels', ''];
    await done(['issues', 'update', id, ...cleared, '--field', 'severity=null']);
    const none = { assignee: null, estimate: null, dueDate: null, labels: [], fields: {} };
    expect(await rest(`/issues/${id}`)).toMatchObject(none);
  });

  test('`-` reads a text from standard input, and @@ stands for a text that begins with @', async () => {
    const { identifier, id } = await newIssue('Discussed');
    await done(['comments', 'create', identifier, '--body', '-'], 'First line.\nSecond line.\n');
    await done(['comments', 'create', identifier, '--body', '@@ana']);
    await done(['comments', 'create', identifier, '--body', '@ana please look']);
    const { data } = await rest(`/issues/${id}/comments`);
    const bodies = ['First line.\nSecond line.', '@ana', '@ana please look'];
    expect(data.map(({ body }: Json) => body)).toEqual(bodies);
  });

  test('a list takes several flags, commas and a JSON array', async () => {
    const { id } = await newIssue('Labelled');
    const labels = async (...args: string[]): Promise<string[]> =>
      (await done(['issues', 'update', id, ...args])).labels.map(({ name }: Json) => name);
    expect(await labels('--labels', 'bug,ui')).toEqual(['bug', 'ui']);
    expect(await labels('--add-labels', 'feature', '--add-labels', 'question')).toEqual([
      'bug',
      'feature',
      'question',
      'ui',
    ]);
    expect(await labels('--remove-labels', '["bug","ui"]')).toEqual(['feature', 'question']);
  });

  test('a boolean is true by its flag and false by its negation, and stays without either', async () => {
    const update = async (...args: string[]): Promise<boolean> =>
      (await done(['fields', 'update', 'Severity', ...args])).required;
    expect(await update('--required')).toBe(true);
    expect(await update('--description', 'Severity of the bug.')).toBe(true);
    expect(await update('--no-required')).toBe(false);
  });

  test('an archived and a deleted object are known by their names', async () => {
    const { id } = await post('/projects', { name: 'Old release' });
    await done(['projects', 'archive', 'Old release']);
    expect(await done(['projects', 'show', 'Old release'])).toMatchObject({ id });
    await done(['projects', 'unarchive', 'Old release']);
    await done(['projects', 'archive', 'Old release']);
    await done(['projects', 'delete', 'Old release', '--yes']);
    // The name of a deleted object is free.
    const { id: successor } = await post('/projects', { name: 'Old release' });
    expect(await done(['projects', 'restore', 'Old release'])).toMatchObject({ id });
    const { code, json } = await unchanged(['projects', 'restore', 'Old release']);
    expect([code, json.error.message]).toEqual([
      1,
      'There is no deleted project Old release. List them with `tatami projects list --deleted only`.',
    ]);
    expect(await rest(`/projects/${successor}`)).toMatchObject({ name: 'Old release' });
  });

  test('a command with two objects takes a name for each', async () => {
    const { identifier } = await newIssue('Followed');
    const added = await done(['subscribers', 'add', identifier, 'ana@acme.example']);
    expect((await rest(`/issues/${identifier}/subscribers`)).data).toContainEqual(added);
    expect((await done(['subscribers', 'remove', identifier, 'Ana'])).done).toBe(true);
    expect((await rest(`/issues/${identifier}/subscribers`)).data).not.toContainEqual(added);
  });
});

describe('editors and names of commands', () => {
  test('--editor writes a new text, and changes a stored one', async () => {
    writeFileSync(dir.path('text.md'), 'Written in an editor.\n');
    const { id } = await newIssue('Edited', { description: 'The old text.' });
    const edited = (args: string[], EDITOR: string): Promise<CliResult> =>
      tatami([...args, '--editor', '--server', app().url], { TATAMI_TOKEN: app().workspace.apiKey, EDITOR });
    expect((await edited(['comments', 'create', id], `cp ${dir.path('text.md')}`)).code).toBe(0);
    expect((await rest(`/issues/${id}/comments`)).data[0].body).toBe('Written in an editor.');
    expect((await edited(['issues', 'update', id], 'sed -i s/old/new/')).code).toBe(0);
    expect((await rest(`/issues/${id}`)).description).toBe('The new text.');
    const same = await edited(['issues', 'update', id], 'true');
    expect([same.code, same.err]).toEqual([1, expect.stringContaining('not changed')]);
  });

  test('a noun is also known in the singular, and a verb by its other name', async () => {
    expect(await done(['label', 'list'])).toEqual((await rest('/labels?limit=50')).data);
    expect(await done(['apps', 'list'])).toEqual([]);
    const { id } = await post('/api-keys', { name: 'Spare', scopes: ['issues:read'] });
    expect((await done(['api-key', 'revoke', id, '--yes'])).operation).toBe('api-keys.delete');
  });
});

describe('lists', () => {
  beforeAll(async () => {
    await post('/teams', { key: 'MANY', name: 'Many' });
    const issues = Array.from({ length: 100 }, (_, index) => ({
      team: 'MANY',
      title: `Issue ${index}`,
      priority: index % 10 === 0 ? 'high' : 'low',
    }));
    writeFileSync(dir.path('many.json'), JSON.stringify(issues));
    for (let time = 0; time < 2; time++)
      expect(await done(['issues', 'bulk', '--issues', `@${dir.path('many.json')}`])).toHaveLength(100);
    await newIssue('Two hundred and first', { team: 'MANY', priority: 'high', labels: ['bug'] });
  });

  const titles = (issues: Json): string[] => issues.map(({ title }: Json) => title);

  test('--limit shows so many items, over several pages; without it, a list says that more exist', async () => {
    const { code, json } = await run(['issues', 'list', '--team', 'MANY', '--limit', '130', '--json']);
    expect([code, json.length]).toEqual([0, 130]);
    const first = await rest('/issues?team=MANY&limit=100');
    const second = await rest(`/issues?team=MANY&limit=30&after=${first.pageInfo.endCursor}`);
    expect(json).toEqual([...first.data, ...second.data]);
    const listed = await run(['issues', 'list', '--team', 'MANY', '--json']);
    expect(listed.json).toEqual(first.data.slice(0, 50));
    expect(listed.err).toContain('More items exist. Show them with --all, or with --limit.');
  });

  test('--all shows every item once', async () => {
    const { json, err } = await run([
      'issues',
      'list',
      '--team',
      'MANY',
      '--all',
      '--fields',
      'identifier',
      '--json',
    ]);
    const identifiers = json.map(({ identifier }: Json) => identifier);
    expect(new Set(identifiers).size).toBe(201);
    expect(identifiers).toHaveLength(201);
    expect(err).not.toContain('More items exist');
  });

  test('a filter is a flag, or a tree of conditions', async () => {
    const high = await rest('/issues?team=MANY&priority=high&limit=100');
    expect(high.data).toHaveLength(21);
    const list = ['issues', 'list', '--team', 'MANY', '--sort', '-createdAt', '--limit', '100'];
    expect(await done([...list, '--priority', 'high'])).toEqual(high.data);
    expect(await done([...list, '--filter', '{"priority":["high"]}'])).toEqual(high.data);
    const several = titles(await done([...list, '--priority', 'high', '--label', 'bug']));
    expect(several).toEqual(['Two hundred and first']);
    expect(await done([...list, '--assignee', 'Ana'])).toEqual([]);
    const [hourAgo, later] = ['1h', '+1h'].map((time) => done([...list, '--updated-since', time]));
    expect(await hourAgo).toHaveLength(100);
    expect(await later).toEqual([]);
  });

  test('--fields chooses fields and parts of them, of a list and of one object', async () => {
    const fields = ['--fields', 'title,state.name,labels.name'];
    const last = { title: 'Two hundred and first', 'state.name': 'Backlog', 'labels.name': ['bug'] };
    expect(await done(['issues', 'list', '--label', 'bug', '--team', 'MANY', ...fields])).toEqual([last]);
    expect(await done(['issues', 'show', 'MANY-201', ...fields])).toEqual(last);
    const table = await run(['issues', 'list', '--label', 'bug', '--team', 'MANY', ...fields]);
    expect(table.out).toMatch(/^TITLE +STATE\.NAME +LABELS\.NAME\nTwo hundred and first +Backlog +bug\n$/);
    const empty = await run(['issues', 'show', 'MANY-201', '--fields', 'parent.title,title.length']);
    expect(empty.out).toBe('parent.title  -\ntitle.length  -\n');
    const emptyTable = await run(['issues', 'list', '--team', 'MANY', '--limit', '1', '--fields', 'parent']);
    expect(emptyTable.out).toBe('PARENT\n-\n');
    const { code, json } = await run(['issues', 'list', '--fields', 'titel', '--json']);
    expect([code, json.error.message]).toEqual([2, expect.stringContaining('Did you mean title?')]);
  });
});

describe('conditions', () => {
  test('a dry run shows the result and changes nothing', async () => {
    const create = ['labels', 'create', '--name', 'tried', '--dry-run'];
    const { code, json, err } = await unchanged(create);
    expect([code, json.name]).toEqual([0, 'tried']);
    expect(err).toContain('Dry run: nothing was changed.');
    const { id, identifier } = await newIssue('Stays');
    expect(
      (await unchanged(['issues', 'update', identifier, '--title', 'Other', '--dry-run'])).json.title,
    ).toBe('Other');
    // A dry run deletes nothing, so it needs no confirmation.
    expect((await unchanged(['issues', 'delete', identifier, '--dry-run'])).code).toBe(0);
    expect((await rest(`/issues/${id}`)).title).toBe('Stays');
  });

  test('--if-version writes only to the version', async () => {
    const { id } = await newIssue('Versioned');
    const update = ['issues', 'update', id, '--priority', 'low', '--if-version'];
    expect((await done([...update, '1'])).version).toBe(2);
    const { code, json } = await unchanged([
      'issues',
      'update',
      id,
      '--priority',
      'high',
      '--if-version',
      '1',
    ]);
    expect([code, json.error.code]).toEqual([1, 'precondition_failed']);
    expect((await unchanged([...update, 'one'])).code).toBe(2);
  });

  test('a delete without a terminal needs --yes', async () => {
    const { identifier } = await newIssue('Deleted');
    const { code, json } = await unchanged(['issues', 'delete', identifier]);
    expect([code, json.error.message]).toEqual([2, expect.stringContaining('--yes')]);
    expect((await done(['issues', 'delete', identifier, '--yes'])).done).toBe(true);
    expect((await done(['issues', 'restore', identifier])).title).toBe('Deleted');
  });
});
