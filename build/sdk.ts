// `bun run build:sdk`: builds the package `@tatami/sdk` in dist/sdk, ready for `npm pack` and `npm publish`.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './paths.ts';

/** Entry points of the package. The client is also the main entry. */
const entries = {
  '.': 'client',
  './client': 'client',
  './plugin': 'plugin',
  './webhooks': 'webhooks',
  './validators': 'validators',
};

/** @throws Error if the sources do not type-check without the types of Bun and Node */
export function buildSdk(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const project = join(root, 'build/sdk.tsconfig.json');
  const command = [process.execPath, tsc, '-p', project, '--outDir', folder];
  const { success, stdout } = Bun.spawnSync(command, { cwd: root });
  if (!success) throw new Error(`The SDK cannot be built:\n${stdout.toString()}`);
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (path.endsWith('.d.ts')) nameDeclarations(join(folder, path));
  cpSync(join(root, 'sdk/README.md'), join(folder, 'README.md'));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
}

/** Renames imports in declarations to `.js`: the compiler does that in code but not in declarations. */
function nameDeclarations(file: string): void {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(/(\bfrom '\.[^']*)\.ts';/g, "$1.js';"));
}

function manifest(): object {
  const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
    license: string;
  };
  const conditions = (name: string) => ({ types: `./${name}/index.d.ts`, default: `./${name}/index.js` });
  return {
    name: '@tatami/sdk',
    version,
    description: 'Client, webhook verifier and plugin types of Tatami, a self-hostable issue tracker',
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: {
      ...Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, conditions(entry)])),
      './package.json': './package.json',
    },
    files: ['**/*.js', '**/*.js.map', '**/*.d.ts'],
  };
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist/sdk') } } });
  const out = resolve(values.out);
  buildSdk(out);
  console.log(`${out}: publish with npm publish, or create a tarball with npm pack.`);
}
