// Entry of `bin/tatami`. `cleanStart` runs before the command is loaded, because it may restart the process
// without configuration from the working directory.
import { cleanStart } from './commands/clean-start.ts';

const start = await cleanStart();
const { tatami } = await import('./commands/tatami.ts');
await tatami(start);
