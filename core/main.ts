// What `bin/tatami` starts. `cleanStart` comes first and starts the process anew, so that nothing of the folder where the command was
// typed takes part in it. Only then is the command itself loaded, `commands/tatami.ts`.
import { cleanStart } from './commands/clean-start.ts';

const start = await cleanStart();
const { tatami } = await import('./commands/tatami.ts');
await tatami(start);
