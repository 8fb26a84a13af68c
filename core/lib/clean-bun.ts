// Flags that start Bun without configuration from the working directory. By default Bun reads bunfig.toml, .env and tsconfig.json
// there, and fetches missing imports from the registry named there: a folder filled by somebody else would run code and redirect
// keys before any line of Tatami runs.
import { join } from 'node:path';

/** Root folder of Tatami. */
export const packageRoot = join(import.meta.dir, '../..');

/** In addition, the process must start in `packageRoot` or `/`: no flag keeps Bun from reading tsconfig.json in the working directory. */
export const cleanBunFlags = ['--config=/dev/null', '--no-env-file', '--no-install'] as const;
