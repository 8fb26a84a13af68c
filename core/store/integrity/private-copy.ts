// Opens a database for reading where nothing can be written. SQLite needs an extra file next to a write-ahead
// log. A database with an empty log is opened as immutable; otherwise a copy in the temporary folder includes
// the log.
import Database from 'libsql';
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isEngineError } from '../engine-errors.ts';
import { makePrivateFile } from '../private.ts';
import { openPageFile } from './page-file.ts';
import { freeBytes, megabytes } from './free-space.ts';
import { immutableUri, readOnlyUri } from './uri.ts';
import { readWalLog } from './wal-log.ts';

export interface Readable {
  readonly uri: string;
  release(): void;
}

/** @param usual URI to try first; null to skip */
export function readableWithoutWriting(database: string, usual: string | null): Readable {
  if (usual !== null && opens(usual)) return { uri: usual, release: () => undefined };
  if (!readWalLog(`${database}-wal`)) return { uri: immutableUri(database), release: () => undefined };
  const besideLog = readOnlyUri(database);
  if (opens(besideLog)) return { uri: besideLog, release: () => undefined };
  return copyCheckpointed(database);
}

function opens(uri: string): boolean {
  try {
    const db = new Database(uri);
    db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').all();
    db.close();
    return true;
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return false;
  }
}

function copyCheckpointed(database: string): Readable {
  const bytes = statSync(database).size + statSync(`${database}-wal`).size;
  const free = freeBytes(tmpdir());
  if (free !== null && free < bytes)
    throw new Error(
      `${database} cannot be read in place: its write-ahead log is not checkpointed and the directory is not writable, and ${tmpdir()} has no space for a copy ` +
        `(${megabytes(free)} free, ${megabytes(bytes)} needed). Free some space there, set TMPDIR to another folder, or make the data directory writable.`,
    );
  const dir = mkdtempSync(join(tmpdir(), 'tatami-read-only-'));
  const copy = join(dir, 'tatami.db');
  makePrivateFile(copy);
  const file = openPageFile(database);
  const fd = openSync(copy, 'r+');
  try {
    file.eachInFile((page, content) => {
      if (content) writeSync(fd, content, 0, content.length, (page - 1) * file.pageBytes);
    });
    for (const page of file.log?.frameOf.keys() ?? []) {
      const content = file.read(page);
      if (content) writeSync(fd, content, 0, content.length, (page - 1) * file.pageBytes);
    }
    if (file.log) ftruncateSync(fd, file.log.pages * file.pageBytes);
  } finally {
    closeSync(fd);
    file.close();
  }
  return { uri: immutableUri(copy), release: () => rmSync(dir, { recursive: true, force: true }) };
}
