// `tatami backups verify PATH`: whether backups can be restored. Exit code 1 where one cannot.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { findDeepProblem } from '../../../platform/backup/make.ts';
import { findProblem, listBackups } from '../../../platform/backup/folder.ts';
import { CommandError, createProgress, exitCodes, printResult } from '../lib/output.ts';
import { percent } from './output.ts';

export interface VerifyOptions {
  deep?: boolean;
  json?: boolean;
}

export async function verify(path: string, options: VerifyOptions, folder: string): Promise<void> {
  const named = resolve(folder, path);
  const paths = statSync(named).isDirectory() ? (await listBackups(named)).map((one) => one.path) : [named];
  if (paths.length === 0)
    throw new CommandError(`${named} has no backups. Create one with \`tatami backup\`.`);
  const progress = createProgress();
  const backups: { path: string; problem: string | null }[] = [];
  for (const one of paths) {
    const onBytes = (bytes: number, totalBytes: number): void =>
      progress.show(`${one} ${percent(bytes, totalBytes)}`);
    const problem = options.deep ? await findDeepProblem(one, onBytes) : await findProblem(one, onBytes);
    backups.push({ path: one, problem });
  }
  progress.end();
  printResult({ backups }, options, (shown) =>
    shown.backups
      .map(
        (one) =>
          `${one.problem === null ? 'valid    ' : 'DAMAGED  '}${one.path}${one.problem === null ? '' : `: ${one.problem}`}`,
      )
      .join('\n'),
  );
  if (backups.some(({ problem }) => problem !== null)) process.exitCode = exitCodes.failed;
}
