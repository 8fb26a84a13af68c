// Writes small files atomically and durably: a start that is killed midway must not leave an empty key that blocks every later start.
import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makePrivateFile } from './private.ts';

export function writeWholeFile(path: string, content: string | Uint8Array): void {
  makePrivateFile(`${path}.new`, content);
  nameWholeFile(`${path}.new`, path);
}

/** Renames a finished file to its final name. Content and name are durable on return. */
export function nameWholeFile(unfinished: string, path: string): void {
  syncPath(unfinished);
  renameSync(unfinished, path);
  syncPath(dirname(path));
}

/** Syncs a file, or the entries of a folder. */
export function syncPath(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** As `syncPath`, without blocking the event loop. */
export async function syncPathLater(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
