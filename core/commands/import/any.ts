// What `tatami import` does with a file, by what it holds: issues of another tracker go to a server, a workspace of ours into a data directory.
import { isWorkspace, takeInWorkspace, type TakeInOptions } from '../exchange/take-in.ts';
import { importIssues, type ImportOptions } from './import.ts';
import { requireFile } from './survey.ts';

export async function importAny(
  file: string,
  options: ImportOptions & TakeInOptions,
  folder: string,
): Promise<void> {
  requireFile(file);
  await (isWorkspace(file) ? takeInWorkspace(file, options, folder) : importIssues(file, options));
}
