// `tatami version`: which build this is, and with `--verify` whether what it unpacked is whole and runs.
import { embedded } from '../../platform/lib/process/own-program.ts';
import { version as number } from '../version.ts';
import { CommandError, exitCodes, printResult } from './lib/output.ts';

export function version({ json, verify = false }: { json?: boolean; verify?: boolean }): void {
  const build = { version: number, bun: Bun.version };
  if (!verify) return printResult(build, { json }, () => number);
  if (!embedded)
    throw new CommandError(
      '--verify needs the executable. This installation runs from source.',
      exitCodes.usage,
    );
  const files = embedded.verify();
  printResult({ ...build, files }, { json }, (shown) =>
    [number, ...shown.files.map((path) => `verified ${path}`)].join('\n'),
  );
}
