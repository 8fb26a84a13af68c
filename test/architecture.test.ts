// Enforces the module rules of docs/architecture.md on the imports of every file.
import { expect, test } from 'bun:test';
import { fieldIssues } from '../core/platform/lib/errors/errors.ts';
import { importsOf, sources, type Import, type Source } from './imports.ts';

const core = sources('core').filter(({ file }) => !file.endsWith('.test.ts'));
const under = (folder: string): Source[] => core.filter(({ file }) => file.startsWith(folder));

interface ArchitecturePart {
  /** Folders and files, with `*` for any folders. If two parts match a file, the longer pattern counts. */
  readonly of: readonly string[];
  /** Other parts that it may import. */
  readonly may: readonly string[];
  /** Parts of which it may import only types. */
  readonly types?: readonly string[];
}

/** In order: a part imports only parts above it in this list, and each listed import exists. */
const parts: Readonly<Record<string, ArchitecturePart>> = {
  lib: { of: ['core/platform/lib/'], may: [] },
  // Public data without I/O, which every part may read.
  contract: {
    of: [
      'core/kernel/contract/',
      'core/kernel/events/catalogue.ts',
      'core/kernel/samples.ts',
      'core/kernel/settings.ts',
      'core/features/contracts.ts',
      'core/features/generated/contracts.ts',
      'core/features/*/contract.ts',
    ],
    may: ['lib'],
  },
  store: { of: ['core/platform/store/'], may: ['lib'] },
  copy: { of: ['core/platform/backup/copy/'], may: ['lib', 'store'] },
  backup: { of: ['core/platform/backup/'], may: ['lib', 'store', 'copy'] },
  ledger: { of: ['core/kernel/ledger/ledger.ts'], may: ['lib'] },
  table: { of: ['core/kernel/table/', 'core/kernel/tables.ts'], may: ['lib', 'contract', 'store'] },
  events: { of: ['core/kernel/events/'], may: ['lib', 'contract', 'store', 'table'] },
  rights: { of: ['core/kernel/rights/'], may: ['lib', 'contract'], types: ['events'] },
  changes: {
    of: ['core/kernel/changes/', 'core/kernel/context.ts'],
    may: ['lib', 'store', 'table', 'events'],
    types: ['contract', 'ledger', 'rights'],
  },
  tables: {
    of: [
      'core/features/tables.ts',
      'core/features/generated/tables.ts',
      'core/features/*/tables.ts',
      'core/features/plugins/forget.ts',
      'core/features/plugins/undo/packed-changes.ts',
    ],
    may: ['lib', 'contract', 'store', 'table'],
    types: ['events', 'changes'],
  },
  http: {
    of: ['core/kernel/http/'],
    may: ['lib', 'store', 'table', 'events', 'rights'],
    types: ['changes'],
  },
  html: { of: ['core/kernel/html.ts', 'core/kernel/error-page.ts'], may: ['lib'], types: ['http'] },
  feed: {
    of: ['core/kernel/events/feed/', 'core/kernel/events/stream/routes.ts'],
    may: ['lib', 'contract', 'store', 'events', 'rights', 'changes', 'http'],
  },
  usage: { of: ['core/kernel/ledger/'], may: ['lib', 'store', 'ledger', 'http'], types: ['changes'] },
  reactions: {
    of: ['core/kernel/event-reactions/'],
    may: ['lib', 'store', 'events', 'rights', 'changes'],
    types: ['contract'],
  },
  resource: { of: ['core/kernel/resource/'], may: ['lib', 'contract', 'store', 'events', 'changes', 'http'] },
  feature: {
    of: ['core/kernel/'],
    may: ['changes', 'resource'],
    types: ['lib', 'contract', 'store', 'events', 'http', 'reactions'],
  },
  sdk: { of: ['sdk/'], may: [] },
  sidecar: {
    of: [
      'core/platform/sandbox/sidecar/',
      'core/platform/sandbox/protocol.ts',
      'core/platform/sandbox/framing.ts',
    ],
    may: ['sdk'],
  },
  sandbox: { of: ['core/platform/sandbox/'], may: ['lib', 'sdk', 'sidecar'] },
  features: {
    of: ['core/features/'],
    may: 'lib contract store table events rights changes tables http html feed reactions resource feature sdk sandbox'.split(
      ' ',
    ),
    types: ['ledger'],
  },
  list: {
    of: ['core/app/features.ts', 'core/app/event-schemas.ts'],
    may: 'lib contract feed usage resource feature features'.split(' '),
    types: ['http'],
  },
  service: {
    of: ['core/app/'],
    may: 'lib contract store copy backup ledger table events rights changes tables http html feed reactions resource sandbox features list'.split(
      ' ',
    ),
    types: ['feature'],
  },
  doctor: {
    of: ['core/app/doctor/'],
    may: 'lib contract store backup events tables feature sandbox features list'.split(' '),
    types: ['table', 'service'],
  },
  commands: {
    of: ['core/app/cli/'],
    may: 'lib contract store copy backup rights sdk features list service doctor'.split(' '),
    types: ['events'],
  },
  start: { of: ['core/app/start/', 'core/main.ts'], may: ['lib', 'commands'] },
  executable: { of: ['core/app/executable/'], may: ['lib', 'sandbox', 'service', 'commands'] },
};

function isIn(path: string, pattern: string): boolean {
  const [start = '', end = ''] = pattern.split('*');
  return path.startsWith(start) && path.endsWith(end);
}

function partOf(path: string): string | undefined {
  let best: { name: string; length: number } | undefined;
  for (const [name, { of }] of Object.entries(parts))
    for (const pattern of of)
      if (isIn(path, pattern) && pattern.length > (best?.length ?? 0))
        best = { name, length: pattern.length };
  return best?.name;
}

interface Edge extends Import {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Imports from one part to another. */
const edges: readonly Edge[] = [
  ...core,
  ...sources('sdk').filter(({ file }) => !file.endsWith('.test.ts')),
].flatMap(({ file, imports }) =>
  imports.flatMap((imported) => {
    const from = partOf(file);
    const to = partOf(imported.path);
    return from && to && from !== to ? [{ ...imported, file, from, to }] : [];
  }),
);
const isAllowed = ({ from, to, typesOnly }: Edge): boolean =>
  parts[from]?.may.includes(to) || (typesOnly && parts[from]?.types?.includes(to)) || false;
const nameOf = ({ file, path, typesOnly }: Edge): string => `${file} → ${path}${typesOnly ? ' (types)' : ''}`;

test('each file of core belongs to a part', () => {
  expect(core.map(({ file }) => file).filter((file) => partOf(file) === undefined)).toEqual([]);
});

test('each part imports only what the table allows', () => {
  const breaking = edges.filter((edge) => !isAllowed(edge)).map(nameOf);
  expect(breaking).toEqual([]);
});

test('the table is ordered and allows only imports that exist', () => {
  const names = Object.keys(parts);
  const upward = names.flatMap((name, index) =>
    [...parts[name]!.may, ...(parts[name]!.types ?? [])]
      .filter((lower) => !names.slice(0, index).includes(lower))
      .map((lower) => `${name} stands above ${lower}`),
  );
  expect(upward).toEqual([]);
  const idle = names.flatMap((name) => {
    const { may, types = [] } = parts[name]!;
    const needs = (to: string, typesOnly: boolean): boolean =>
      edges.some((edge) => edge.from === name && edge.to === to && edge.typesOnly === typesOnly);
    return [
      ...may.filter((to) => !needs(to, false)).map((to) => `${name} imports no value of ${to}`),
      ...types.filter((to) => !needs(to, true)).map((to) => `${name} imports no type of ${to}`),
    ];
  });
  expect(idle).toEqual([]);
});

test('no files import each other in a cycle', () => {
  const graph = new Map(
    core.map(({ file, imports }) => [
      file,
      imports.filter(({ typesOnly }) => !typesOnly).map(({ path }) => path),
    ]),
  );
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) return void cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  expect(cycles).toEqual([]);
});

const breaches = (files: readonly Source[], bad: (path: string, file: string) => boolean): string[] =>
  files.flatMap(({ file, imports }) =>
    imports.filter(({ path }) => bad(path, file)).map(({ path }) => `${file} → ${path}`),
  );

/** Name of the feature whose folder contains the file; empty for other files. */
const featureOf = (path: string): string => /^core\/features\/(?!generated)([\w-]+)\//.exec(path)?.[1] ?? '';
/** Public files of a feature; `offline.ts` is for commands, which load no routes. */
const isPublic = (path: string): boolean => /\/(contract|index|settings|offline)\.ts$/.test(path);

test('a feature is imported only through its index.ts, its contracts, settings and offline.ts', () => {
  const past = (path: string, file: string): boolean =>
    featureOf(path) !== '' &&
    featureOf(path) !== featureOf(file) &&
    !isPublic(path) &&
    !(file === 'core/features/generated/tables.ts' && path.endsWith('/tables.ts'));
  expect(breaches(core, past)).toEqual([]);
  const commands = /^core\/app\/(cli|executable)\//;
  const offline = (path: string, file: string): boolean =>
    featureOf(path) !== '' &&
    path.endsWith('/offline.ts') !== commands.test(file) &&
    !/\/(contract|settings)\.ts$/.test(path);
  expect(breaches(under('core/app/'), offline)).toEqual([]);
});

test('a feature imports only features above it in core/app/features.ts, and contracts', () => {
  const order = core
    .filter(({ file }) => file === 'core/app/features.ts')
    .flatMap(({ imports }) => imports.map(({ path }) => featureOf(path)))
    .filter((name) => name !== '');
  expect(order.length).toBeGreaterThan(30);
  const isLater = (path: string, file: string): boolean =>
    order.includes(featureOf(path)) &&
    order.indexOf(featureOf(path)) > order.indexOf(featureOf(file)) &&
    !path.endsWith('/contract.ts');
  const listed = core.filter(({ file }) => order.includes(featureOf(file)));
  expect(breaches(listed, isLater)).toEqual([]);
  const folders = new Set(under('core/features/').map(({ file }) => featureOf(file)));
  expect([...folders].filter((name) => name !== '' && !order.includes(name))).toEqual([]);
});

test('a resource imports from http only types of a route and of its caller, and the check of a shape', () => {
  const serving = ['agents', 'audit-log', 'me', 'oauth', 'plugins', 'proposals', 'sign-in', 'webhooks'];
  const inside = core.filter(
    ({ file }) =>
      ['resource', 'usage', 'ledger'].includes(partOf(file) ?? '') ||
      (featureOf(file) !== '' && !serving.includes(featureOf(file))),
  );
  const known = /^core\/kernel\/http\/(route|principal|openapi\/document|request\/validate)\.ts$/;
  const strange = (path: string): boolean => path.startsWith('core/kernel/http/') && !known.test(path);
  expect(breaches(inside, strange)).toEqual([]);
});

test('routes are imported only where the service is assembled', () => {
  const others = core.filter(
    ({ file }) =>
      !/^core\/(app\/(features|serve\/serve)|features\/[\w-]+\/(index|runtime)|kernel\/resource\/define)\.ts$/.test(
        file,
      ),
  );
  expect(breaches(others, (path) => path.endsWith('/routes.ts'))).toEqual([]);
});

/** Packages that only one part imports, so that they are replaceable. Types and schemas (typebox) are exempt. */
const packages: Readonly<Record<string, RegExp>> = {
  libsql: /^core\/platform\/store\//,
  'libsql/promise': /^core\/platform\/store\//,
  elysia: /^core\/kernel\/http\//,
  'isolated-vm': /^core\/platform\/sandbox\/sidecar\//,
  commander: /^core\/app\/cli\//,
  'prom-client': /^core\/app\/health\/metrics\.ts$/,
  'csv-parse': /^core\/app\/cli\/import\//,
  'oidc-provider': /^core\/features\/oauth\/engine\//,
  'fetch-to-node': /^core\/features\/oauth\/engine\//,
  croner: /^core\/platform\/lib\/time\/cron\.ts$/,
  'fractional-indexing': /^core\/platform\/lib\/rank\.ts$/,
  'bun:ffi': /^core\/(platform\/(sandbox\/jail\/|store\/files\/data-dir\.ts$)|app\/serve\/socket\.ts$)/,
  'node:http': /^core\/platform\/lib\/egress\//,
  'node:https': /^core\/platform\/lib\/egress\//,
};

/** Files that use `import.meta` paths, each with its replacement in the executable. */
const besideThemselves: Readonly<Record<string, string>> = {
  'core/platform/lib/process/own-program.ts': 'It supports both; the executable is its own Bun.',
  'core/features/plugins/packages.ts': 'The packed plugins and the sources of the SDK are embedded.',
  'core/platform/sandbox/fleet/spawn.ts':
    'The bundles are embedded, and the executable itself is the entry of the jail.',
  'core/platform/sandbox/locate.ts': 'The files are embedded and unpacked.',
  'core/features/sign-in/passwords.ts': 'The thread is an entry of the bundle: core/app/start/threads.ts.',
  'core/platform/store/writer/thread.ts': 'The thread is an entry of the bundle: core/app/start/threads.ts.',
  'sdk/plugin/bundle.ts': 'The sources of the SDK are embedded and handed to it.',
};

test('every file that uses import.meta paths is listed with its replacement in the executable', () => {
  const looking = [...core, ...sources('sdk').filter(({ file }) => !file.endsWith('.test.ts'))]
    .filter(({ text }) => /\bimport\.meta\.(dir|url|path|file)/.test(text))
    .map(({ file }) => file);
  expect(looking.sort()).toEqual(Object.keys(besideThemselves).sort());
});

test('a restricted package is imported in one part only', () => {
  expect(breaches(core, (path, file) => packages[path]?.test(file) === false)).toEqual([]);
  const unused = Object.keys(packages).filter(
    (name) =>
      !name.startsWith('node:') && !core.some(({ imports }) => imports.some(({ path }) => path === name)),
  );
  expect(unused).toEqual([]);
});

test('the sidecar imports only Node, isolated-vm, the protocol and the handler kinds', () => {
  // This file contains only data and has no imports.
  const handlers = 'sdk/plugin/handlers.ts';
  const strange = (path: string): boolean =>
    partOf(path) !== 'sidecar' && path !== handlers && !/^node:|^isolated-vm$/.test(path);
  expect(breaches(under('core/platform/sandbox/sidecar/'), strange)).toEqual([]);
  expect(sources('sdk').find(({ file }) => file === handlers)?.imports).toEqual([]);
});

test('plugins and examples import only the sdk, by its public name', () => {
  // The check of an example may use the test browser.
  const isCheck = /^examples\/[\w-]+\/check\.ts$/;
  const strange = (path: string, file: string): boolean =>
    /^(core|sdk|test)\//.test(path) && !(isCheck.test(file) && path.startsWith('test/browser/'));
  expect(breaches(sources('plugins', 'examples'), strange)).toEqual([]);
});

test('only egress and the sdk send requests, and only config reads the environment', () => {
  const using = (pattern: RegExp, allowed: RegExp): string[] =>
    core.filter(({ file, text }) => pattern.test(text) && !allowed.test(file)).map(({ file }) => file);
  expect(using(/\bprocess\.env\b|\bBun\.env\b/, /^core\/app\/config\/config\.ts$/)).toEqual([]);
  expect(
    using(
      /(?<![.\w])fetch\(['"`\w]/,
      /^core\/(platform\/(lib\/egress\/|sandbox\/sidecar\/guest\/)|kernel\/http\/app\.ts|app\/cli\/(about|lib\/operator-rpc|operations\/send)\.ts)/,
    ),
  ).toEqual([]);
});

test('commands print only through output.ts, which escapes untrusted text', () => {
  const printing = [...under('core/app/cli/'), ...under('core/app/start/')].filter(({ text }) =>
    /\bprocess\.(stdout|stderr)\b|\bconsole\./.test(text),
  );
  expect(printing.map(({ file }) => file)).toEqual(['core/app/cli/lib/output.ts']);
});

test('time and randomness are injected', () => {
  const reads = core.filter(({ text }) => /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(/.test(text));
  expect(reads.map(({ file }) => file)).toEqual([]);
});

test('a fix is an instruction that begins with a verb, and `why` holds the explanation', () => {
  const verbs =
    /^(Add|Choose|Create|Delete|Expand|Filter|Give|Leave|List|Look|Name|Nest|Remove|Send|Sort|Subscribe|Use)\b/;
  const asFix = new RegExp(`^[^;]*?'(?:${fieldIssues.join('|')})',\\s*['\`]([^'\`]+)`);
  const fixes = core.flatMap(({ file, text }) => [
    ...text
      .split('invalidField(')
      .slice(1)
      .flatMap((call) => {
        const [, fix] = asFix.exec(call) ?? [];
        return fix === undefined ? [] : [`${file}: ${fix}`];
      }),
    ...[...text.matchAll(/\bfix: ['`]([^'`]+)/g)].map(([, fix = '']) => `${file}: ${fix}`),
  ]);
  expect(fixes.length).toBeGreaterThan(30);
  // A fix that begins with an interpolated value cannot be checked.
  expect(fixes.filter((fix) => !/: \$\{/.test(fix) && !verbs.test(fix.replace(/^.*?: /, '')))).toEqual([]);
});

test('no file is longer than 400 lines', () => {
  const long = [...core, ...sources('sdk', 'plugins', 'examples', 'test', 'bench', 'build')].filter(
    ({ text }) => text.split('\n').length > 401 && !text.startsWith('// Generated by '),
  );
  expect(long.map(({ file, text }) => `${file} ${text.split('\n').length}`)).toEqual([]);
});

test('no file of the web app is longer than 350 lines, and none imports the server', () => {
  const app = sources('dashboard');
  expect(app.filter(({ text }) => text.split('\n').length > 351).map(({ file }) => file)).toEqual([]);
  const foreign = app.flatMap(({ file, imports }) =>
    imports.filter(({ path }) => /^(core|test|build)\//.test(path)).map(({ path }) => `${file} → ${path}`),
  );
  expect(foreign).toEqual([]);
});

test('imports are parsed as Bun parses them', () => {
  const transpiler = new Bun.Transpiler({ loader: 'ts' });
  const missed = core.flatMap(({ file, text, imports }) =>
    transpiler
      .scanImports(text)
      .flatMap(({ path }) => importsOf(file, `import '${path}'`))
      .filter(({ path }) => !imports.some((known) => known.path === path && !known.typesOnly))
      .map(({ path }) => `${file} → ${path}`),
  );
  expect(missed).toEqual([]);
});
