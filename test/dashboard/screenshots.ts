// Takes a picture of every screen, in both themes and on a phone: `bun test/dashboard/screenshots.ts [FOLDER]`. With
// `docs/images` as the folder it writes only those that the documentation shows.
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { root } from '../imports.ts';
import { openScene, runAt } from './scene.ts';

const folder = resolve(root, process.argv[2] ?? 'dist/screenshots');
mkdirSync(folder, { recursive: true });
const scene = await openScene();
const written = await runAt<{ readonly files: readonly string[] }>(scene, 'screenshots-process.ts', folder);
await scene.stop();
console.log(`${written.files.length} pictures in ${folder}`);
process.exit();
