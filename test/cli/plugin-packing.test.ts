// Packing reports errors in a plugin with the author's own line.
import { afterAll, expect, test } from 'bun:test';
import { definition, folderIn, imports } from './plugin-source.ts';
import { tatami, temporary, type CliResult } from './tatami.ts';

const dir = temporary();
afterAll(() => dir[Symbol.dispose]());

const folder = folderIn(dir);
const pack = (name: string): Promise<CliResult> =>
  tatami(['plugins', 'pack', dir.path(name), '--out', dir.path(`${name}.json`)]);

const wrong: [what: string, source: string, place: string, says: string, line: string][] = [
  ['a syntax error', `${imports}const a: number = ;\n`, '2:19', 'Unexpected ;', 'const a: number = ;'],
  [
    'a missing import',
    `${imports}import { x } from './nope.ts';\nexport default definePlugin(x);`,
    '2:19',
    './nope.ts, which cannot be found',
    `import { x } from './nope.ts';`,
  ],
  [
    'a definition that throws',
    `${imports}type Table = Record<string, number>;\nconst table: Table = JSON.parse('{');\nexport default definePlugin(table);`,
    '3:',
    'JSON',
    `const table: Table`,
  ],
  [
    'a filter',
    definition({
      on: `'issue.created': { filter, handle() {} }`,
      before: `const filter = { priority: ['highest'] };`,
    }),
    '2:18',
    'none, low, medium, high, urgent',
    'const filter',
  ],
  [
    'a schedule',
    definition({ schedules: `often: { cron: '* * * * *', handle() {} }` }),
    '6:16',
    'every five minutes',
    'often:',
  ],
  [
    'a field that a scope does not write',
    definition({ scopes: `'issues:write': { why: 'to write', fields: ['colour'] }` }),
    '4:48',
    'colour',
    `'issues:write'`,
  ],
  [
    'a default that violates its setting',
    definition({ settings: `properties: { greeting: { type: 'string', default: 5 } }` }),
    '7:57',
    'the value must be string',
    'greeting:',
  ],
  [
    'a missing handler',
    definition({ on: `'issue.created': { handel() {} }` }),
    '5:9',
    `on['issue.created'] has no handle function`,
    'issue.created',
  ],
  [
    'a definition that is not exported',
    `${imports}definePlugin({} as never);`,
    '1:1',
    'definePlugin({…})',
    'import',
  ],
  ['an export of something else', `${imports}export default 'hello';`, '2:', 'definePlugin({…})', 'hello'],
  [
    'an action without a target',
    definition({ on: '' }).replace('on: {', `actions: { a: { handle() {} } }, on: {`),
    '5:',
    'must have "target", which is one of issue, project, none',
    'actions',
  ],
  [
    'a subscription with an unknown value',
    definition({ on: `'issue.created': { self: 'x', handle() {} }` }),
    '5:',
    'must be one of skip, deliver',
    'self:',
  ],
  [
    'a plugin without handlers',
    definition({ on: '' }),
    '',
    'The plugin has no handlers. Add at least one event in "on", or a schedule, action or route.',
    '',
  ],
  [
    'a version of one number',
    definition({}).replace('1.0.0', '2'),
    '3:53',
    'A version has three numbers, such as 2.0.0 or 2.0.0-beta.1.',
    'definePlugin',
  ],
  [
    'an action whose target it does not read',
    definition({ on: '' }).replace('on: {', `actions: { a: { target: 'project', handle() {} } }, on: {`),
    '5:19',
    `The action receives a project, so the plugin needs to read it. Add "projects:read": { why: … } to the plugin's scopes.`,
    'target',
  ],
  [
    'a scope that is misspelled',
    definition({ scopes: `'issues:wriet': { why: 'to write' }` }),
    '4:13',
    'The scope issues:wriet does not exist. Use a scope listed at /docs/scopes. Did you mean issues:write?',
    'issues:wriet',
  ],
  [
    'an incomplete scope',
    definition({ scopes: `issues: { why: 'to write' }` }),
    '4:13',
    'The scope issues does not exist.',
    'issues',
  ],
  [
    'a secret in lower case',
    definition({}).replace(
      'settings:',
      `secrets: { a_key: { hosts: ['https://a.example'], header: 'x-key' } }, settings:`,
    ),
    '7:14',
    'A secret name consists of capital letters, digits and _, and starts with a letter, such as ACME_KEY.',
    'a_key',
  ],
  [
    'a route with a space in its name',
    definition({}).replace(
      'settings:',
      `routes: { 'a b': { method: 'POST', auth: 'hmac', handle() {} } }, settings:`,
    ),
    '7:13',
    'A name has up to 40 letters, digits and -, and starts with a lower-case letter, such as daily-report.',
    'a b',
  ],
  [
    'a format without a placeholder for the secret',
    definition({}).replace(
      'settings:',
      `secrets: { KEY: { hosts: ['https://a.example'], header: 'x-key', format: 'x' } }, settings:`,
    ),
    '7:68',
    'A format contains {} once, in place of the secret, and printable ASCII around it, such as Bearer {}.',
    'format',
  ],
  [
    'a path without a slash',
    definition({}).replace(
      'settings:',
      `net: [{ origin: 'https://a.example', path: 'v1', why: 'to ask' }], settings:`,
    ),
    '7:3',
    'A path starts with / and has no spaces, such as /v1/messages, or /v1/ for all paths below it.',
    'net',
  ],
  [
    'a scope that is narrowed to no fields',
    definition({ scopes: `'issues:write': { why: 'to write', fields: [] }` }),
    '4:48',
    'List at least one field, or omit `fields` to request all fields.',
    'fields',
  ],
  [
    'a scope that is narrowed to no team',
    definition({ scopes: `'issues:write': { why: 'to write', where: { team: [] } }` }),
    '4:57',
    'List at least one team, or omit `where` to request all teams.',
    'team',
  ],
];

test.each(wrong)('packing names the line of %s', async (what, source, position, says, line) => {
  const name = what.replaceAll(' ', '-');
  folder(name, source);
  const { code, err } = await pack(name);
  expect([code, err]).toEqual([1, expect.stringContaining(`tatami: plugin.ts:${position}`)]);
  expect(err).toContain(says);
  const [frameLine = '', mark = ''] = err.split('\n').slice(1);
  expect(frameLine).toContain(line);
  expect(mark).toMatch(/^ +\| +\^$/);
});
