// What `bin/tatami` starts. Nothing of the command is loaded before the process is one that owes nothing to the folder it was
// typed in; the command itself is `commands/tatami.ts`.
import { cleanStart } from './commands/clean-start.ts';

const start = await cleanStart();
const { tatami } = await import('./commands/tatami.ts');
await tatami(start);
