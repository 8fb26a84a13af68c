// The import rules of docs/architecture.md, by matching the `from '…'` strings: who may know whom.
import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dir, '..');

interface Source {
  file: string;
  text: string;
  imports: string[];
}

function sources(...folders: string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const text = readFileSync(path, 'utf8');
        const imports = [
          ...text.matchAll(/(?:^(?:import|export)[^;]*?from |^import |\bimport\()'([^']+)'/gms),
        ].map(([, name]) => (name!.startsWith('.') ? relative(root, join(dirname(path), name!)) : name!));
        return { file: relative(root, path), text, imports };
      }),
  );
}

const core = sources('core').filter(({ file }) => !file.endsWith('.test.ts'));
const breaches = (files: Source[], bad: (imported: string, file: string) => boolean): string[] =>
  files.flatMap(({ file, imports }) =>
    imports.filter((imported) => bad(imported, file)).map((imported) => `${file} imports ${imported}`),
  );
const under = (folder: string): Source[] => core.filter(({ file }) => file.startsWith(folder));

test('lib imports nothing of ours', () => {
  expect(
    breaches(
      under('core/lib/'),
      (name) => /^(core|sdk|plugins)\//.test(name) && !name.startsWith('core/lib/'),
    ),
  ).toEqual([]);
});

test('http imports no resource, and a resource imports http only in its routes, but for the list of scopes', () => {
  expect(
    breaches(under('core/http/'), (name) =>
      /^core\/(tracker|identity|webhooks|plugins|sandbox)\//.test(name),
    ),
  ).toEqual([]);
  const resources = [...under('core/tracker/'), ...under('core/identity/')].filter(
    ({ file }) => !/(routes|authenticate)\.ts$/.test(file),
  );
  expect(
    breaches(resources, (name) => name.startsWith('core/http/') && name !== 'core/rights/scopes.ts'),
  ).toEqual([]);
});

test("events, webhooks, plugins and sandbox never import the tracker; nothing imports another resource's routes", () => {
  const files = [
    'core/events/',
    'core/webhooks/',
    'core/plugins/',
    'core/sandbox/',
    'core/store/',
    'core/changes/',
  ].flatMap(under);
  expect(breaches(files, (name) => name.startsWith('core/tracker/'))).toEqual([]);
  expect(
    breaches(
      core,
      (name, file) => name.endsWith('/routes.ts') && !/^core\/(resources|serve)\.ts$|runtime\.ts$/.test(file),
    ),
  ).toEqual([]);
});

test('the sandbox knows no store, no door and no database; its sidecar only Node and the protocol', () => {
  expect(
    breaches(under('core/sandbox/'), (name) => /^core\/(store|http|events|changes|plugins)\//.test(name)),
  ).toEqual([]);
  expect(
    breaches(
      under('core/sandbox/sidecar/'),
      (name) =>
        !/^(node:|isolated-vm$)/.test(name) &&
        !/^core\/sandbox\/(protocol|framing)\.ts$/.test(name) &&
        !name.startsWith('core/sandbox/sidecar/'),
    ),
  ).toEqual([]);
});

test('sdk imports nothing from core; plugins and examples only the sdk', () => {
  expect(breaches(sources('sdk'), (name) => name.startsWith('core/'))).toEqual([]);
  expect(breaches(sources('plugins', 'examples'), (name) => /^(core|sdk)\//.test(name))).toEqual([]);
});

test('libsql only in store, elysia only in http, outgoing HTTP only in egress and sdk, the environment only in config', () => {
  expect(breaches(core, (name, file) => name === 'libsql' && !file.startsWith('core/store/'))).toEqual([]);
  expect(breaches(core, (name, file) => name === 'elysia' && !file.startsWith('core/http/'))).toEqual([]);
  const using = (pattern: RegExp, allowed: RegExp): string[] =>
    core.filter(({ file, text }) => pattern.test(text) && !allowed.test(file)).map(({ file }) => file);
  expect(using(/\bprocess\.env\b|\bBun\.env\b/, /^core\/config\.ts$/)).toEqual([]);
  expect(
    using(/(?<![.\w])fetch\(['"`\w]/, /^core\/(lib\/egress\/|http\/app\.ts|sandbox\/sidecar\/guest\/)/),
  ).toEqual([]);
  expect(using(/from 'node:https?'/, /^core\/lib\/egress\//)).toEqual([]);
});

test('a command prints through output.ts alone, where what strangers wrote is made harmless', () => {
  const printing = [...under('core/commands/'), ...under('core/main.ts')].filter(({ text }) =>
    /\bprocess\.(stdout|stderr)\b|\bconsole\./.test(text),
  );
  expect(printing.map(({ file }) => file)).toEqual(['core/commands/output.ts']);
});

test('time and chance come in as parameters', () => {
  const reads = core.filter(({ text }) => /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(/.test(text));
  expect(reads.map(({ file }) => file)).toEqual([]);
});

test('no import cycles', () => {
  const graph = new Map(
    core.map(({ file, text, imports }) => [
      file,
      imports.filter(
        (name) =>
          name.startsWith('core/') &&
          !new RegExp(
            `import type [^;]*from '[^']*${name.split('/').at(-1)!.replace('.', '\\.')}'`,
            's',
          ).test(text),
      ),
    ]),
  );
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) return void cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  expect(cycles).toEqual([]);
});

test('no file is longer than 400 lines', () => {
  const long = [...core, ...sources('sdk', 'plugins', 'examples', 'test', 'bench')].filter(
    ({ text }) => text.split('\n').length > 401,
  );
  expect(long.map(({ file, text }) => `${file} ${text.split('\n').length}`)).toEqual([]);
});
