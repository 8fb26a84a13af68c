// Writes the list of contracts, in the order of `core/app/features.ts`, and the lists of settings, tables and migrations. It reads only texts,
// because every module of the program needs the lists for its types.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { schemaText } from './schema.ts';

const contractsFile = 'core/features/generated/contracts.ts';
const migrationsFile = 'core/platform/store/generated/migrations.ts';
const settingsFile = 'core/features/generated/settings.ts';
const tablesFile = 'core/features/generated/tables.ts';
const templatesFile = 'core/features/automations/generated/templates.ts';
const schemaFile = 'core/platform/store/generated/schema.ts';

const isFeature = /from '\.\.\/features\/([\w-]+)\//g;
const isContract = /^export const (\w+) = defineContract\(/gm;
const isTable = /^export const (\w+) = defineTable\(\s*'(\w+)'/gm;
const isSettings = /^export const (\w+Settings) = \{$/gm;

/**
 * Returns the lists that the modules of the program import, as pairs of path and text.
 * @param root folder of the repository
 */
export const listFiles = (root: string): (readonly [path: string, text: string])[] => [
  [contractsFile, contractsText(root)],
  [settingsFile, settingsText(root)],
  [tablesFile, tablesText(root)],
  [migrationsFile, migrationsText(root)],
  [schemaFile, schemaText(root)],
  [templatesFile, templatesText(root)],
];

function contractsText(root: string): string {
  const features = readFileSync(join(root, 'core/app/features.ts'), 'utf8');
  const folders = new Set([...features.matchAll(isFeature)].map(([, folder = '']) => folder));
  const found = [...folders].flatMap((folder) => exportsOf(root, `${folder}/**/contract.ts`, isContract));
  return [
    ...importsOf(found),
    '',
    `export const all = [${found.map(({ name }) => name).join(', ')}] as const;\n`,
  ].join('\n');
}

function settingsText(root: string): string {
  const found = exportsOf(root, '*/settings.ts', isSettings);
  const files = [...new Bun.Glob('*/settings.ts').scanSync(join(root, 'core/features'))];
  const unread = files.find(
    (file) => !file.startsWith('generated/') && !found.some(({ path }) => path === file),
  );
  if (unread !== undefined)
    throw new Error(`core/features/${unread} has no \`export const …Settings = {\`. Export its settings so.`);
  return [
    ...importsOf(found),
    '',
    `export const featureSettings = { ${found.map(({ name }) => `...${name}`).join(', ')} };\n`,
  ].join('\n');
}

function tablesText(root: string): string {
  const core = join(root, 'core');
  const paths = ['kernel/tables.ts', ...new Bun.Glob('features/*/tables.ts').scanSync(core)].toSorted();
  const found = paths.flatMap((path) =>
    [...readFileSync(join(core, path), 'utf8').matchAll(isTable)].map(([, name = '', table = '']) => ({
      name,
      table,
      path,
    })),
  );
  return [
    ...importsOf(found.map(({ name, path }) => ({ name, path: `../${path}` }))),
    '',
    `export const all = { ${found.map(({ name, table }) => `${table}: ${name}`).join(', ')} } as const;\n`,
  ].join('\n');
}

interface Exported {
  readonly name: string;
  readonly path: string;
}

const importsOf = (found: readonly Exported[]): string[] =>
  found.map(({ name, path }) => `import { ${name} } from '../${path}';`);

function exportsOf(root: string, pattern: string, is: RegExp): Exported[] {
  const features = join(root, 'core/features');
  const paths = [...new Bun.Glob(pattern).scanSync(features)].toSorted();
  return paths.flatMap((path) =>
    [...readFileSync(join(features, path), 'utf8').matchAll(is)].map(([, name = '']) => ({ name, path })),
  );
}

function migrationsText(root: string): string {
  const folder = join(root, 'core/platform/store/migrations');
  const names = [...new Bun.Glob('*.sql').scanSync(folder)].toSorted().map((file) => basename(file, '.sql'));
  return [
    ...names.map((name, at) => `import sql${at + 1} from '../migrations/${name}.sql' with { type: 'text' };`),
    '',
    `export const all = [${names.map((name, at) => `{ name: '${name}', sql: sql${at + 1} }`).join(', ')}];\n`,
  ].join('\n');
}

/** Templates of rules, whose comments people read. */
function templatesText(root: string): string {
  const folder = join(root, 'plugins/automations/templates');
  const names = [...new Bun.Glob('*.yaml').scanSync(folder)].toSorted();
  const texts = names.map((name) => [basename(name, '.yaml'), readFileSync(join(folder, name), 'utf8')]);
  return `export const templateTexts = ${JSON.stringify(Object.fromEntries(texts))};\n`;
}
