// Runs the command from source.
import { main } from './app/start/program.ts';

await main();
