// Makes a small file so that it is either there whole and durable, or not there: a start that is killed half-way must not
// leave an empty key behind that bars every later start.
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export function writeWholeFile(path: string, content: string | Uint8Array): void {
  const fd = openSync(`${path}.new`, 'w', 0o600);
  try {
    writeFileSync(fd, content);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(`${path}.new`, path);
  syncFolder(dirname(path));
}

/** Makes names in a folder durable. */
export function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
