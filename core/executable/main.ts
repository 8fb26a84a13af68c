// Entry of the executable: the command line, or the entry of a sidecar's jail, which is the same program with another first
// argument and loads nothing else.
import { jailEntryWord } from '../lib/own-program.ts';

if (process.argv[2] === jailEntryWord) await import('../sandbox/jail/entry.ts');
else {
  const { cleanStart } = await import('../commands/clean-start.ts');
  const start = await cleanStart();
  // Changes to `/`, as when run from source, so that an accidentally relative path does not resolve to the
  // caller's working directory.
  process.chdir('/');
  const { tatami } = await import('../commands/tatami.ts');
  await tatami(start);
}
