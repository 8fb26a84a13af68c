// `bun run generate`: writes the generated files and removes stale ones.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../paths.ts';
import { listFiles } from './contracts.ts';

// First, because the modules from which the other files derive import these lists.
for (const [path, text] of listFiles(root)) writeFileSync(join(root, path), text);
const { generatedFiles, typesFolder } = await import('./files.ts');

const files = await generatedFiles();
const folder = join(root, typesFolder);
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder))
  if (!files.has(`${typesFolder}/${name}`)) rmSync(join(folder, name), { recursive: true });
for (const [path, text] of files) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
