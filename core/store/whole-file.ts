// Makes a small file so that it is either there whole and durable, or not there: a start that is killed half-way must not
// leave an empty key behind that bars every later start.
import { closeSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makePrivateFile } from './private.ts';

export function writeWholeFile(path: string, content: string | Uint8Array): void {
  makePrivateFile(`${path}.new`, content);
  nameWholeFile(`${path}.new`, path);
}

/** Gives a finished file its name. Both are durable on return. */
export function nameWholeFile(unfinished: string, path: string): void {
  syncPath(unfinished);
  renameSync(unfinished, path);
  syncPath(dirname(path));
}

/** A file, or the names in a folder. */
export function syncPath(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** As `syncPath`, without holding up the event loop. */
export async function syncPathLater(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
