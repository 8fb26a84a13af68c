// Runs the command or one of the programs of the tests.
import { main as runCommand } from '../core/app/start/program.ts';
import { packageRoot } from '../core/platform/lib/process/own-program.ts';
import { ownPrograms, programPrefix, type OwnProgram } from './own-programs.ts';

async function main(): Promise<void> {
  // `bin/tatami` starts there.
  process.chdir(packageRoot);
  const [, , first = '', ...args] = process.argv;
  if (first.startsWith(programPrefix)) {
    const { main } = await ownPrograms[first.slice(programPrefix.length) as OwnProgram]();
    return main(args);
  }
  await runCommand();
}

void main();
