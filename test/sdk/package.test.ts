// Builds, packs and installs `@tatami/sdk` into an empty folder, type-checks it there in a strict project,
// and runs it in each supported runtime against a real server.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSdk } from '../../build/sdk.ts';
import { findNode } from '../../core/platform/sandbox/locate.ts';
import { serveTatami, tatami, temporary, type Served } from '../cli/tatami.ts';
import { blocksOf } from '../documents/blocks.ts';
import { root } from '../imports.ts';
import { startReceiver, type Receiver } from '../features/webhooks/receiver.ts';
import { run, runtimes, type Runtime } from './runtimes.ts';
import type { ScenarioResult, Setting } from './stranger/scenario.ts';

const dir = temporary();
const folder = dir.path('empty');
let served: Served;
let receiver: Receiver;
let token: string;
let known: readonly Runtime[];

/** The strictest options, without types of a runtime and with only the standard library of the language. */
const compilerOptions = {
  target: 'es2022',
  lib: ['es2022'],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: false,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  skipLibCheck: false,
};
const tsc = [findNode(), join(root, 'node_modules/typescript/bin/tsc')];
const put = (name: string, text: string): void => writeFileSync(join(folder, name), text);

async function install(): Promise<void> {
  const built = dir.path('built');
  buildSdk(built);
  await run(['npm', 'pack', '--silent', '--pack-destination', dir.path('.')], built);
  const tarball = readdirSync(dir.path('.')).find((name) => name.endsWith('.tgz')) ?? '';
  mkdirSync(folder);
  put('package.json', JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
  await run(['npm', 'install', '--silent', '--no-audit', '--no-fund', dir.path(tarball)], folder);
  cpSync(join(import.meta.dir, 'stranger'), folder, { recursive: true });
}

async function serve(): Promise<void> {
  const data = dir.path('data');
  const first = await tatami(['init', '--data-dir', data, '--workspace', 'Acme', '--team', 'ENG', '--json']);
  token = first.json.apiKey;
  served = await serveTatami([
    ...['--data-dir', data, '--egress-allow', '127.0.0.0/8', '--rate-limit', 'off', '--json'],
  ]);
}

beforeAll(async () => {
  receiver = startReceiver();
  [known] = await Promise.all([runtimes(), install(), serve()]);
}, 120_000);

afterAll(async () => {
  served.child.kill();
  await served.child.exited;
  await receiver.stop();
  dir[Symbol.dispose]();
});

describe('the package type-checks in a strict project', () => {
  test.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])(
    'module %s, resolution %s',
    async (module, moduleResolution) => {
      const options = { ...compilerOptions, module, moduleResolution, outDir: `out-${module}` };
      const files = ['scenario.ts', 'receiver.ts', 'plugin.ts'];
      put(`tsconfig.${module}.json`, JSON.stringify({ compilerOptions: options, files }));
      expect(await run([...tsc, '-p', `tsconfig.${module}.json`], folder)).toBe('');
    },
    60_000,
  );
});

test('the examples of the READMEs compile with the types of a runtime', async () => {
  const readmes = [
    join(folder, 'node_modules/@tatami/sdk/README.md'),
    join(root, 'README.md'),
    join(root, 'docs/guides/quick-start.md'),
  ];
  const examples = readmes.flatMap((path) =>
    blocksOf(readFileSync(path, 'utf8')).flatMap(({ language, name, text }) =>
      language === 'ts' && name === '' ? [text] : [],
    ),
  );
  expect(examples.length).toBeGreaterThan(3);
  const files = examples.map((_, at) => `readme-${at}.ts`);
  for (const [at, text] of examples.entries()) put(`readme-${at}.ts`, text);
  put('process.d.ts', 'declare const process: { env: { [name: string]: string | undefined } };');
  const how = { module: 'nodenext', lib: ['es2023', 'dom'], noEmit: true, skipLibCheck: true };
  const options = { ...compilerOptions, ...how };
  put(
    'tsconfig.readme.json',
    JSON.stringify({ compilerOptions: options, files: ['process.d.ts', ...files] }),
  );
  expect(await run([...tsc, '-p', 'tsconfig.readme.json'], folder)).toBe('');
}, 60_000);

const seenIn = (name: string): ScenarioResult => ({
  isOnce: true,
  titles: ['c', 'b', 'a'],
  streamed: `Seen by ${name}.`,
  received: '0 bug',
  forged: 'signature_mismatch',
  unsent: 'title too_short title invalid_format',
  refused: 'validation_failed title too_short title invalid_format',
  outdated: 'precondition_failed',
});
const setting = (name: string): string =>
  JSON.stringify({ server: served.url, token, receiver: receiver.url, name } satisfies Setting);

test('the package runs in Node 20, 22 and 24, Bun and Deno', async () => {
  put(
    'main.js',
    `import { scenario } from './out-nodenext/scenario.js';
     console.log(JSON.stringify(await scenario(JSON.parse(process.argv[2]))));`,
  );
  const seen = await Promise.all(
    known.map(async ({ name, command }) => {
      const out = await run([...command, 'main.js', setting(name)], folder, { DENO_DIR: dir.path('deno') });
      return [name, JSON.parse(out)];
    }),
  );
  expect(seen).toEqual(known.map(({ name }) => [name, seenIn(name)]));
}, 60_000);

/** The web APIs of a worker; no API of Node is available. */
const webApis = [
  ...['AbortController', 'AbortSignal', 'Headers', 'ReadableStream', 'Request', 'Response', 'TextDecoder'],
  ...['TextEncoder', 'URL', 'URLSearchParams', 'clearTimeout', 'crypto', 'fetch', 'setTimeout'],
];

test('a bundle for workers needs only web APIs', async () => {
  put('worker.js', `import { scenario } from './out-esnext/scenario.js'; globalThis.scenario = scenario;`);
  const { outputs } = await Bun.build({
    entrypoints: [join(folder, 'worker.js')],
    target: 'browser',
    format: 'iife',
    minify: true,
  });
  put('bundle.js', (await outputs[0]?.text()) ?? '');
  put(
    'host.js',
    `import { readFileSync } from 'node:fs';
     import { createContext, runInContext } from 'node:vm';
     const worker = createContext(Object.fromEntries(${JSON.stringify(webApis)}.map((name) => [name, globalThis[name]])));
     runInContext(readFileSync('bundle.js', 'utf8'), worker);
     console.log(JSON.stringify(await worker.scenario(JSON.parse(process.argv[2]))));`,
  );
  const [node] = known.filter(({ name }) => name === 'node-24');
  const out = await run([...(node?.command ?? []), 'host.js', setting('worker')], folder);
  expect(JSON.parse(out)).toEqual(seenIn('worker'));
}, 60_000);

test('a CommonJS program requires the package', async () => {
  put('old.cjs', `console.log(typeof require('@tatami/sdk/webhooks').verify);`);
  const outs = await Promise.all(
    known
      .filter(({ name }) => name !== 'deno')
      .map(async ({ command }) => run([...command, '--no-deprecation', 'old.cjs'], folder).catch(String)),
  );
  expect(outs).toEqual(Array(4).fill('function\n'));
});

test('the package has complete metadata and contains only the needed files', () => {
  const at = join(folder, 'node_modules/@tatami/sdk');
  const manifest = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({ name: '@tatami/sdk', version, type: 'module', engines: { node: '>=20' } });
  expect(manifest.dependencies).toBeUndefined();
  const files = readdirSync(at, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes('.'));
  expect(files.filter((path) => !/(\.js|\.js\.map|\.d\.ts|package\.json|README\.md)$/.test(path))).toEqual(
    [],
  );
  expect(files.filter((path) => /\btest|pack|attack|manifest\.(js|d)/.test(path))).toEqual(['package.json']);
  const violations = files
    .filter((path) => /\.(js|d\.ts)$/.test(path))
    .filter((path) =>
      /from ['"][^'"]+\.ts['"]|\bBuffer\b|\bBun\.|\bprocess\./.test(readFileSync(join(at, path), 'utf8')),
    );
  expect(violations).toEqual([]);
});
