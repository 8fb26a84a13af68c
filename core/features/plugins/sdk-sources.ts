// Reads the source files of `@tatami/sdk/plugin`, types included, keyed by path below the SDK's folder.
// Plugins are bundled with them, and the folder of a new plugin receives them for type checking.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SdkFiles } from '../../../sdk/plugin/bundle.ts';
import { embedded } from '../../platform/lib/process/own-program.ts';

const entry = 'plugin/index.ts';
const imported = /\bfrom '(\.{1,2}\/[^']+)'/g;

/** @throws Error if a file is missing */
export function readSdkSources(folder: string): SdkFiles {
  const files: Record<string, string> = {};
  const add = (file: string): void => {
    if (file in files) return;
    const text = readFileSync(join(folder, file), 'utf8');
    files[file] = text;
    for (const [, path] of text.matchAll(imported)) if (path !== undefined) add(join(dirname(file), path));
  };
  add(entry);
  return files;
}

export function sdkSources(): SdkFiles {
  return embedded?.sdkFiles() ?? readSdkSources(join(import.meta.dir, '../../../sdk'));
}
