// Runs the command from source.
import { main } from './start/program.ts';

await main();
