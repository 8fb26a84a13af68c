// Runs core/main.ts or one of the programs of the tests. A bundle with bytecode supports no top-level
// `await`, so core/main.ts cannot be its entry.
import { cleanStart } from '../core/commands/clean-start.ts';
import { ownPrograms, programPrefix, type OwnProgram } from './own-programs.ts';

async function main(): Promise<void> {
  const [, , first = '', ...args] = process.argv;
  if (first.startsWith(programPrefix)) {
    const { main } = await ownPrograms[first.slice(programPrefix.length) as OwnProgram]();
    return main(args);
  }
  const start = await cleanStart();
  const { tatami } = await import('../core/commands/tatami.ts');
  await tatami(start);
}

void main();
