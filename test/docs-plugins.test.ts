// Checks docs/plugins: examples type-check, pack and install, commands print the documented output, and the
// reference lists every call. UPDATE_DOCS=1 rewrites the output in the documents.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { effectsMax, limitsOf, runsPerMinuteMax } from '../core/features/plugins/planning/limits.ts';
import type { RunLimits } from '../core/platform/sandbox/supervisor.ts';
import { surface } from '../core/platform/sandbox/sidecar/guest/generated/surface.ts';
import * as pluginErrors from '../sdk/plugin/errors.ts';
import type { PluginPackage } from '../sdk/plugin/manifest.ts';
import { startApp, type TestApp } from './app.ts';
import { tatami, temporary } from './cli/tatami.ts';
import { blocksOf } from './documents/blocks.ts';
import { launcher } from './program.ts';

const root = join(import.meta.dir, '..');
const docs = join(root, 'docs/plugins');
const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));
const dir = temporary();
let app: TestApp;
const receivedRequests: string[] = [];
/** The service of from-nothing.md, which listens on port 4899 there. */
const classifier = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    receivedRequests.push(
      `${request.method} ${new URL(request.url).pathname} ${request.headers.get('authorization')}`,
    );
    return Response.json({ kind: 'bug' });
  },
});

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  mkdirSync(dir.path('bin'));
  // Requests to a route are signed with the time of the server.
  const seconds = Math.floor(app.clock.now() / 1000);
  writeFileSync(dir.path('bin/date'), `#!/bin/sh\necho ${seconds}\n`, { mode: 0o755 });
  symlinkSync(launcher, dir.path('bin/tatami'));
});
afterAll(async () => {
  await app.stop();
  await classifier.stop(true);
  dir[Symbol.dispose]();
});

const read = (page: string): string => readFileSync(join(docs, page), 'utf8');

/** Returns the scope namespace of the calls of a path. */

/** Returns a whole plugin around lines that use `ctx`. */
function aroundCalls(text: string): string {
  const [imports, lines] = [true, false].map((wanted) =>
    text.split('\n').filter((line) => line.startsWith('import ') === wanted),
  ) as [string[], string[]];
  const writes = new Set(surface.flatMap(({ scope, writes }) => (writes.length > 0 ? [scope] : [])));
  const scopes = [...new Set(surface.map(({ scope }) => scope))].map(
    (scope) => `'${scope}:${writes.has(scope) ? 'write' : 'read'}': { why: 'x' }`,
  );
  return `import { definePlugin } from '@tatami/sdk/plugin';
${imports.join('\n')}
export default definePlugin({
  id: 'x', version: '1.0.0', engines: { tatami: '*' }, scopes: { ${[...scopes].join(', ')} },
  schedules: { x: { cron: '0 3 * * *', async handle(_, ctx) {
${lines.join('\n')}
  } } },
});
`;
}

function put(path: string, text: string): void {
  mkdirSync(dirname(dir.path(path)), { recursive: true });
  writeFileSync(dir.path(path), text);
}

test('every example type-checks in the folder of a new plugin, and every plugin among them installs', async () => {
  expect((await tatami(['plugin', 'new', 'x', '--dir', dir.path('all')])).code).toBe(0);
  const plugins: string[] = [];
  for (const page of pages.filter((name) => name !== 'tutorial.md' && name !== 'from-nothing.md'))
    for (const [index, { language, name, text }] of blocksOf(read(page)).entries()) {
      if (language !== 'ts') continue;
      const path = name === 'ctx' ? `plugins/${page}-${index}.ts` : name;
      put(`all/${path}`, name === 'ctx' ? aroundCalls(text) : text);
      if (path.endsWith('/plugin.ts')) plugins.push(dirname(path));
    }
  for (const [index, { name, text }] of blocksOf(read('from-nothing.md')).entries())
    if (name.endsWith('.ts')) put(`all/plugins/from-nothing-${index}.ts`, text);
  const tsconfig = readFileSync(dir.path('all/tsconfig.json'), 'utf8');
  writeFileSync(dir.path('all/tsconfig.json'), tsconfig.replace('"*.ts"', '"*.ts", "plugins/**/*.ts"'));
  const bun = (...args: string[]) => Bun.spawnSync([process.execPath, ...args], { cwd: dir.path('all') });
  const checked = bun('check');
  expect([checked.exitCode, checked.exitCode === 0 ? '' : checked.stdout.toString()]).toEqual([0, '']);
  expect(bun('plugins/greet/plugin.test.ts').exitCode).toBe(0);

  expect(plugins.length).toBeGreaterThan(4);
  for (const plugin of plugins) {
    const file = dir.path(`${plugin.replaceAll('/', '-')}.json`);
    const packed = await tatami(['plugin', 'pack', dir.path(`all/${plugin}`), '--out', file]);
    expect([plugin, packed.code, packed.err]).toEqual([plugin, 0, '']);
    const document = JSON.parse(readFileSync(file, 'utf8')) as PluginPackage;
    const grant = Object.keys(document.manifest.scopes ?? {});
    const installed = await app.call('POST', '/api/v1/plugins', {
      package: document,
      grant,
      probation: false,
    });
    expect([plugin, installed.status]).toEqual([plugin, 201]);
  }
}, 120_000);

test('the reference of ctx lists exactly the existing calls, each with its scope', () => {
  const page = read('ctx.md');
  const rows = [...page.matchAll(/^\| `ctx(?:\.|\[')([\w-]+)(?:'\])?\.(\w+)\([^)]*\)` \| `([\w:-]+)` \|$/gm)];
  const said = rows.map(([, name, call, scope]) => `${name}.${call} ${scope}`);
  const known = surface.flatMap(({ name, scope, reads, writes }) => [
    ...reads.map((call) => `${name}.${call} ${scope}:read`),
    ...writes.map((call) => `${name}.${call} ${scope}:write`),
  ]);
  expect(said.toSorted()).toEqual(known.toSorted());
});

test('every member of ctx, and every error of a call or handler, has a row', () => {
  const base = readFileSync(join(root, 'sdk/plugin/context.ts'), 'utf8').split('interface BaseContext')[1]!;
  const members = [...base.split('\n}')[0]!.matchAll(/^ {2}(?:readonly )?(\w+)[:(]/gm)].map(
    ([, name]) => name,
  );
  expect(members).toContain('fetch');
  const page = read('ctx.md');
  for (const name of members) expect(page).toMatch(new RegExp(`^\\| \`ctx\\.${name}\\b`, 'm'));

  const errors = read('errors.md');
  for (const thrown of Object.values(pluginErrors).filter((one) => one !== pluginErrors.PluginError))
    expect(errors).toContain(`\`${thrown.code}\``);
});

test('the documented limits equal the limits of runs', () => {
  const page = read('limits.md');
  const event = { kind: 'event', name: 'issue.created' } as const;
  const schedule = { kind: 'schedule', name: 'x' } as const;
  const plain = { id: 'x', version: '1.0.0', engines: { tatami: '*' }, handlers: ['schedule:x'] };
  const greedy = {
    ...plain,
    limits: { cpuMs: 1e9, memoryMb: 1e9 },
    schedules: { x: { cron: '0 3 * * *', limits: { cpuMs: 1e9 } } },
  };
  const ms = (value: number): string => `${value.toLocaleString('en')} ms`;
  const [own, most] = [plain, greedy].map((manifest) => limitsOf(manifest, event)) as [RunLimits, RunLimits];
  const [ownS, mostS] = [plain, greedy].map((manifest) => limitsOf(manifest, schedule)) as [
    RunLimits,
    RunLimits,
  ];
  for (const row of [
    `an event handler | ${ms(own.cpuMs)} | ${ms(most.cpuMs)} |`,
    `without a pause | ${ms(own.entryMs)} | ${ms(most.entryMs)} |`,
    `schedule's run | ${ms(ownS.cpuMs)} | ${ms(mostS.cpuMs)} |`,
    `| ${own.wallMs / 1000} s; schedules ${ownS.wallMs / 1000} s |`,
    `memory | ${own.memoryMb} MB | ${most.memoryMb} MB |`,
    `module | ${ms(own.startupMs)} |`,
    `at once | ${own.calls}; ${own.concurrentCalls} |`,
    `writes of a run | ${effectsMax},`,
    `| ${own.logLines} lines, ${own.logBytes / 1024} KiB |`,
    `| ${runsPerMinuteMax.toLocaleString('en')} a minute |`,
  ])
    expect(page).toContain(row);
});

/** Masks values that vary between runs. */
function masked(text: string): string {
  return (
    text
      .replaceAll(/\b([a-z]{3})_[0-9a-z]{26}/g, '$1_…')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
      .replaceAll(/per day .*|[\d.]+ ms/g, '…')
      .replaceAll(/\^\d+\.\d+\.\d+/g, '…')
      // Progress is printed only for slow operations.
      .replaceAll(/^.*\b\d+ of \d+(, \d+\/s| events.*)\n/gm, '')
      // Two plugins handle an issue concurrently.
      .replaceAll(/labels: \[(bug)?\] → \[(bug, )?crash\]/g, 'labels: […, crash]')
      .trim()
  );
}

async function shell(command: string, folder: string, token: string): Promise<string> {
  const child = Bun.spawn(['sh', '-c', `{ ${command}; } 2>&1`], {
    cwd: folder,
    env: {
      TATAMI_SERVER: app.url,
      TATAMI_TOKEN: token,
      PATH: `${dir.path('bin')}:${process.env.PATH}`,
      HOME: dir.path(''),
    },
    stdout: 'pipe',
  });
  const output = await new Response(child.stdout).text();
  await child.exited;
  await app.settled();
  return output
    .replace(/^(Using the server|bkt_\w+:|import:|\d+ of \d+$).*\n?/gm, '')
    .replaceAll(classifier.url.origin, 'http://127.0.0.1:4899')
    .replaceAll(app.url, 'http://127.0.0.1:4700')
    .trim();
}

/**
 * Maps hashes of packages that contain the address of the test service to those with the address of the page.
 */
const hashes = new Map<string, string>();

/** @returns the output of packing with the address of the page */
async function packedAsTyped(folder: string, typed: string): Promise<string> {
  const answer = await shell('tatami plugins pack .', typed, '');
  const [ours, theirs] = [folder, typed].map((one) => {
    const file = join(one, /→ (\S+)/.exec(answer)?.[1] ?? '');
    return (JSON.parse(readFileSync(file, 'utf8')) as PluginPackage).sha256;
  });
  hashes.set(ours!, theirs!);
  return answer;
}

test.each([
  ['the tutorial', join(docs, 'tutorial.md'), 'tutorial'],
  ['the tutorial from nothing', join(docs, 'from-nothing.md'), 'nothing'],
  ['the README', join(root, 'README.md'), 'readme'],
  ['the quick start', join(root, 'docs/guides/quick-start.md'), 'quick-start'],
])(
  '%s shows the actual output of the commands',
  async (_, path, folderName) => {
    let page = readFileSync(path, 'utf8');
    let folder = dir.path(folderName);
    mkdirSync(folder);
    for (const name of ['bin', 'examples']) symlinkSync(join(root, name), join(folder, name));
    const { apiKey, workspaceId } = await app.addWorkspace(folderName, 'ENG');
    // The state after `tatami init` and the first start.
    await app.installFirstParty(workspaceId, 'auto-triage');
    let moved = 0;
    for (const { at, language, name, text } of blocksOf(page)) {
      if (language !== 'console' && /\.\w+$/.test(name)) {
        put(`${folderName}/${name}`, text.replaceAll('http://127.0.0.1:4899', classifier.url.origin));
        put(`${folderName}-typed/${name}`, text);
      }
      if (language !== 'console') continue;
      const parts: string[] = [];
      for (const [command] of text.matchAll(/^\$ (?:.*\\\n)*.*/gm)) {
        let answer = await shell(command.slice(2), folder, apiKey);
        if (command === '$ tatami plugins pack .' && folderName === 'nothing')
          answer = await packedAsTyped(
            folder,
            folder.replace(dir.path(folderName), dir.path(`${folderName}-typed`)),
          );
        for (const [ours, typed] of hashes)
          answer = answer.replaceAll(ours, typed).replaceAll(ours.slice(0, 12), typed.slice(0, 12));
        parts.push(answer === '' ? command : `${command}\n${answer}`);
        const [, into] = /\bcd (\S+)/.exec(command) ?? [];
        if (into !== undefined) folder = join(folder, into);
      }
      const said = `${parts.join('\n')}\n`;
      if (process.env.UPDATE_DOCS === '1') {
        page = page.slice(0, at + moved) + said + page.slice(at + moved + text.length);
        moved += said.length - text.length;
      } else expect(masked(text)).toBe(masked(said));
    }
    if (process.env.UPDATE_DOCS === '1') writeFileSync(path, page);
    if (folderName === 'nothing')
      expect(receivedRequests).toEqual(['POST /v1/classify Bearer not-a-real-key']);
  },
  120_000,
);

test('every command of `tatami plugins` is listed in the table of commands', async () => {
  const help = (await tatami(['plugins', '--help'])).out;
  const commands = [...help.slice(help.indexOf('Commands:')).matchAll(/^ {2}([a-z-]+(?:\|[a-z-]+)?)/gm)].map(
    ([, names]) => names!,
  );
  const cells = read('README.md')
    .match(/^\| `tatami .*$/gm)!
    .map((row) => row.split(' | ')[0]!)
    .filter((cell) => cell.includes('tatami plugins'));
  // A command may be listed by its other name, such as `logs` for `runs|logs`.
  const documented = commands.filter((names) =>
    cells.some((cell) => new RegExp(`[ \`](${names})[ \`]`).test(cell)),
  );
  expect(documented).toEqual(commands.filter((names) => names !== 'help'));
  expect(commands.length).toBeGreaterThan(20);
});
