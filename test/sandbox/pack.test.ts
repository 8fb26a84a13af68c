// From a folder to a package to a run: packing, validation of packages, and the SDK's errors in a plugin.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describePackage } from '../../core/features/plugins/packages.ts';
import { packageFormat, parsePackage, sha256Hex } from '../../sdk/plugin/manifest.ts';
import { packPlugin } from '../../sdk/plugin/pack.ts';
import { jobOf, openSandbox } from './harness.ts';

const pluginSource = `
import { Conflict, definePlugin, Drop, RetryLater } from '@tatami/sdk/plugin';
import { greeting } from './words.ts';
import { loud } from 'loud';
export default definePlugin({
  id: 'com.acme.greeter',
  version: '1.2.3',
  engines: { tatami: '^0.1' },
  scopes: { 'issues:write': { why: 'to greet' } },
  settings: { type: 'object', properties: { times: { type: 'integer', default: 1 } } },
  partitions: 2,
  on: {
    'issue.created': {
      filter: { priority: ['none'] },
      async handle(event, ctx) {
        const found = await ctx.issues.get(event.data.id).catch((error: unknown) => error);
        ctx.log.info(loud(greeting), found instanceof Conflict, found instanceof Drop);
        throw new RetryLater(1234);
      },
    },
  },
  schedules: { nightly: { cron: '0 3 * * *', tz: 'UTC', limits: { cpuMs: 5000 }, async handle() {} } },
});`;

let root: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'tatami-pack-')));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

function folder(name: string, files: Record<string, string>): string {
  const dir = join(root, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

const pack = (dir: string): Promise<unknown> => packPlugin(dir, { describe: describePackage });

describe('a plugin folder', () => {
  test('is packed into a package that runs, with the SDK and npm packages inside and the manifest read in the sandbox', async () => {
    const dir = folder('greeter', {
      'plugin.ts': pluginSource,
      'words.ts': `export const greeting: string = 'hello';`,
      'node_modules/loud/package.json': '{"name":"loud","main":"index.js"}',
      'node_modules/loud/index.js': 'export const loud = (text) => text.toUpperCase();',
    });
    const packed = await packPlugin(dir, { describe: describePackage });
    expect(packed.manifest).toEqual({
      id: 'com.acme.greeter',
      version: '1.2.3',
      engines: { tatami: '^0.1' },
      scopes: { 'issues:write': { why: 'to greet' } },
      settings: { type: 'object', properties: { times: { type: 'integer', default: 1 } } },
      partitions: 2,
      on: { 'issue.created': { filter: { priority: ['none'] } } },
      schedules: { nightly: { cron: '0 3 * * *', tz: 'UTC', limits: { cpuMs: 5000 } } },
      handlers: ['event:issue.created', 'schedule:nightly'],
    });
    expect(packed.code).not.toContain(root);
    expect(await parsePackage(JSON.stringify(packed))).toEqual(packed);

    const sandbox = await openSandbox();
    const call = () =>
      Promise.resolve({ ok: false as const, error: { code: 'conflict', message: 'It has changed.' } });
    const code = { sha256: packed.sha256, source: packed.code, handlers: packed.manifest.handlers };
    const outcome = await sandbox.run(jobOf('ins_greeter', code, { call }));
    await sandbox.stop();
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: 'retry_later',
      retryAfterMs: 1234,
      logs: [{ message: 'HELLO true false' }],
    });
  });

  test('gives the same bytes at any location', async () => {
    const source = `export default { id: 'a.b', version: '1.0.0', engines: { tatami: '1' }, on: { 'issue.created': { handle() {} } } };`;
    const [one, two] = await Promise.all(
      [folder('here', { 'plugin.ts': source }), folder('deep/er/there', { 'plugin.ts': source })].map((dir) =>
        pack(dir),
      ),
    );
    expect(one).toEqual(two);
  });

  const marker = (): string => join(root, 'ran');
  const refused: [name: string, files: () => Record<string, string>, says: string][] = [
    ['without a plugin.ts', () => ({ 'other.ts': '' }), 'has a plugin.ts'],
    [
      'with a macro',
      () => ({
        'm.ts': `import { writeFileSync } from 'fs'; export function run() { writeFileSync('${marker()}', ''); return 1; }`,
        'plugin.ts': `import { run } from './m.ts' with { type: 'macro' }; export default run();`,
      }),
      'Macros are disabled',
    ],
    [
      'that reads a file of the machine',
      () => ({ 'plugin.ts': `import text from '/etc/passwd' with { type: 'text' }; export default text;` }),
      'outside the plugin',
    ],
    [
      'that imports from its parent folder',
      () => ({
        '../above.ts': 'export const x = 1;',
        'plugin.ts': `import { x } from '../above.ts'; export default x;`,
      }),
      'outside the plugin',
    ],
    [
      'that imports Node',
      () => ({ 'plugin.ts': `import fs from 'node:fs'; export default fs;` }),
      'no Node or Bun modules',
    ],
    [
      'with a missing import',
      () => ({ 'plugin.ts': `import x from 'no-such-package'; export default x;` }),
      'cannot be found',
    ],
    ['that throws', () => ({ 'plugin.ts': `throw new Error('not today');` }), 'not today'],
    ['that loops', () => ({ 'plugin.ts': `for (;;);` }), 'does not load'],
    [
      'without handlers',
      () => ({ 'plugin.ts': `export default { id: 'a.b', version: '1.0.0', engines: { tatami: '1' } };` }),
      '/manifest/handlers',
    ],
    [
      'with an unknown event',
      () => ({
        'plugin.ts': `export default { id: 'a.b', version: '1.0.0', engines: { tatami: '1' }, on: { 'issue.exploded': { handle() {} } } };`,
      }),
      'issue.exploded',
    ],
    [
      'with an unknown field',
      () => ({
        'plugin.ts': `export default { id: 'a.b', version: '1.0.0', engines: { tatami: '1' }, sekrets: {}, on: { 'issue.created': { handle() {} } } };`,
      }),
      'unknown field "sekrets"',
    ],
    [
      'with too many partitions',
      () => ({
        'plugin.ts': `export default { id: 'a.b', version: '1.0.0', engines: { tatami: '1' }, partitions: 9, on: { 'issue.created': { handle() {} } } };`,
      }),
      '/manifest/partitions',
    ],
  ];
  for (const [name, files, says] of refused) {
    test(`${name} is rejected, and nothing of it ran in this process`, async () => {
      const dir = folder(name.replaceAll(' ', '-'), files());
      await expect(pack(dir)).rejects.toThrow(says);
      await pack(dir).catch(() => undefined);
      expect(existsSync(marker())).toBe(false);
    });
  }

  test('cannot link to files outside it', async () => {
    const dir = folder('linked', { 'plugin.ts': `import { x } from './link.ts'; export default x;` });
    folder('outside', { 'secret.ts': 'export const x = 1;' });
    symlinkSync(join(root, 'outside/secret.ts'), join(dir, 'link.ts'));
    await expect(pack(dir)).rejects.toThrow('outside the plugin');
  });
});

describe('a package document', () => {
  const document = async (change: object = {}): Promise<string> => {
    const code = 'export default {};';
    const manifest = {
      id: 'a.b',
      version: '1.0.0',
      engines: { tatami: '1' },
      on: { 'issue.created': {} },
      handlers: ['event:issue.created'],
    };
    return JSON.stringify({
      format: packageFormat,
      manifest,
      code,
      sha256: await sha256Hex(code),
      ...change,
    });
  };

  test('is accepted unmodified', async () => {
    expect((await parsePackage(await document())).manifest.id).toBe('a.b');
  });

  const wrong: [name: string, change: object, says: string][] = [
    ['of another format', { format: 'zip' }, '/format'],
    ['with another hash', { sha256: '0'.repeat(64) }, '/sha256'],
    ['with changed code', { code: 'export default 1;' }, '/sha256'],
    ['without code', { code: '' }, '/code'],
    [
      'with a source map of more lines than any bundle has',
      { sourceMap: { version: 3, sources: ['plugin.ts'], mappings: ';'.repeat(20_000) } },
      '/sourceMap',
    ],
    ['with something more', { extra: 1 }, 'unknown field "extra"'],
    [
      'whose handlers do not match its subscriptions',
      {
        manifest: {
          id: 'a.b',
          version: '1.0.0',
          engines: { tatami: '1' },
          on: { 'issue.created': {} },
          handlers: ['event:issue.deleted'],
        },
      },
      '/manifest/handlers',
    ],
    [
      'with an invalid version',
      { manifest: { id: 'a.b', version: 'new', engines: { tatami: '1' }, on: {}, handlers: ['x'] } },
      '/manifest/version',
    ],
  ];
  for (const [name, change, says] of wrong) {
    test(`${name} is rejected with the position of the error`, async () => {
      await expect(parsePackage(await document(change))).rejects.toThrow(says);
    });
  }

  test('that is invalid JSON, or too large, is rejected', async () => {
    await expect(parsePackage('{')).rejects.toThrow('not JSON');
    await expect(parsePackage(' '.repeat(5 * 1024 * 1024))).rejects.toThrow('the maximum is');
  });
});
