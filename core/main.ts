// Entry of `bin/tatami`. `cleanStart` runs first and restarts the process without configuration from the working directory. Only
// then is the command itself loaded.
import { cleanStart } from './commands/clean-start.ts';

const start = await cleanStart();
const { tatami } = await import('./commands/tatami.ts');
await tatami(start);
