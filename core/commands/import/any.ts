// What `tatami import` does with a file, by what it holds: issues of another tracker go to a server, a workspace of ours into a data directory.
import { resolve } from 'node:path';
import { CommandError } from '../output.ts';
import { isWorkspace, takeInWorkspace, type TakeInOptions } from '../exchange/take-in.ts';
import { importIssues, type ImportOptions } from './import.ts';
import { requireFile } from './survey.ts';

export async function importAny(
  file: string,
  options: ImportOptions & TakeInOptions,
  folder: string,
): Promise<void> {
  requireFile(file);
  const people = options.people === undefined ? {} : { people: resolve(folder, options.people) };
  if (!isWorkspace(file)) return importIssues(file, { ...options, ...people });
  if (options.people !== undefined)
    throw new CommandError(`${file} is a workspace, which comes with its own people. Leave --people out.`);
  await takeInWorkspace(file, options, folder);
}
