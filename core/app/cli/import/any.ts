// Selects the import by the content of the file: issues of another tracker go to a server, an exported workspace into a data directory.
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../lib/output.ts';
import { isWorkspace, takeInWorkspace, type TakeInOptions } from '../export/take-in.ts';
import { importIssues, type ImportOptions } from './import.ts';
import { requireFile } from './survey.ts';

type AnyOptions = ImportOptions & TakeInOptions;

/** @param folder where relative paths begin */
export async function importAny(file: string, options: AnyOptions, folder: string): Promise<void> {
  return file === '-' ? importInput(options, folder) : importFile(resolve(folder, file), options, folder);
}

/** An import reads its file more than once, so that standard input is put into one first. */
async function importInput(options: AnyOptions, folder: string): Promise<void> {
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

async function importFile(file: string, options: AnyOptions, folder: string): Promise<void> {
  requireFile(file);
  const people = options.people === undefined ? {} : { people: resolve(folder, options.people) };
  if (!isWorkspace(file)) return importIssues(file, { ...options, ...people });
  if (options.people !== undefined)
    throw new CommandError(`${file} is an exported workspace and includes its members. Omit --people.`);
  await takeInWorkspace(file, options, folder);
}
