// `tatami import`: selects the import by the content of the file. Issues of another tracker go to a server (issues.ts); a workspace that
// `tatami export` wrote goes into a data directory that no server uses.
import { createWriteStream, mkdtempSync, rmSync, closeSync, openSync, readSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../lib/output.ts';
import { importIssues, type ImportOptions } from './issues.ts';
import { requireFile } from './survey.ts';
import { isHead } from '../../../features/export/offline.ts';
import type { LocalOptions } from '../lib/local.ts';

export type AnyImportOptions = ImportOptions & LocalOptions;

/** @param folder where relative paths begin */
export async function importAny(file: string, options: AnyImportOptions, folder: string): Promise<void> {
  return file === '-' ? importInput(options, folder) : importFile(resolve(folder, file), options, folder);
}

/** An import reads its file more than once, so standard input is written to a file first. */
async function importInput(options: AnyImportOptions, folder: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'tatami-import-'));
  const clean = (): void => rmSync(place, { recursive: true, force: true });
  process.on('exit', clean);
  try {
    const file = join(place, 'stdin');
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }));
    await importFile(file, options, folder);
  } finally {
    clean();
  }
}

async function importFile(file: string, options: AnyImportOptions, folder: string): Promise<void> {
  requireFile(file);
  const people = options.people === undefined ? {} : { people: resolve(folder, options.people) };
  if (!isWorkspace(file)) return importIssues(file, { ...options, ...people });
  if (options.people !== undefined)
    throw new CommandError(`${file} is an exported workspace and includes its members. Omit --people.`);
  // This part loads the program of the server.
  await (await import('./workspace.ts')).takeInWorkspace(file, options, folder);
}

const headBytes = 4_096;

/** Returns true if the file begins like an exported workspace. */
function isWorkspace(file: string): boolean {
  const bytes = Buffer.alloc(headBytes);
  const fd = openSync(file, 'r');
  try {
    const [line = ''] = bytes.subarray(0, readSync(fd, bytes)).toString('utf8').split('\n');
    return isHead(line);
  } finally {
    closeSync(fd);
  }
}
