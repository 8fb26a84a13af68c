// Entry of the executable: the command line, or the entry of a sidecar's jail, which is the same program with another first
// argument and loads nothing else.
import { jailEntryWord } from '../../platform/lib/process/own-program.ts';

if (process.argv[2] === jailEntryWord) await import('../../platform/sandbox/jail/entry.ts');
else {
  const { cleanStart } = await import('../cli/clean-start.ts');
  const start = await cleanStart();
  // Changes to `/`, as when run from source, so that an accidentally relative path does not resolve to the
  // caller's working directory.
  process.chdir('/');
  const { tatami } = await import('../cli/tatami.ts');
  await tatami(start);
}
