// Writes the list of contracts, in the order of `core/app/features.ts`. It reads only texts, because every module of
// the program needs the list for its types.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const contractsFile = 'core/features/generated/contracts.ts';

const isFeature = /from '\.\.\/features\/([\w-]+)\//g;
const isContract = /^export const (\w+) = defineContract\(/gm;

/** @param root folder of the repository */
export function contractsText(root: string): string {
  const features = readFileSync(join(root, 'core/app/features.ts'), 'utf8');
  const folders = new Set([...features.matchAll(isFeature)].map(([, folder = '']) => folder));
  const found = [...folders].flatMap((folder) => contractsIn(root, folder));
  return [
    ...found.map(({ name, path }) => `import { ${name} } from '../${path}';`),
    '',
    `export const all = [${found.map(({ name }) => name).join(', ')}] as const;\n`,
  ].join('\n');
}

function contractsIn(root: string, folder: string): { name: string; path: string }[] {
  const features = join(root, 'core/features');
  const paths = [...new Bun.Glob(`${folder}/**/contract.ts`).scanSync(features)].toSorted();
  return paths.flatMap((path) =>
    [...readFileSync(join(features, path), 'utf8').matchAll(isContract)].map(([, name = '']) => ({
      name,
      path,
    })),
  );
}
