// What the one executable starts: the command, or the entry of a sidecar's jail, which is the same program under another first word
// and loads nothing of the rest.
import { jailEntryWord } from '../lib/own-program.ts';

if (process.argv[2] === jailEntryWord) await import('../sandbox/jail/entry.ts');
else {
  const { cleanStart } = await import('../commands/clean-start.ts');
  const start = await cleanStart();
  // As from source, nothing that is relative by mistake means the folder where the command was typed.
  process.chdir('/');
  const { tatami } = await import('../commands/tatami.ts');
  await tatami(start);
}
