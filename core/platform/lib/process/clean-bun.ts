// Flags that start Bun without configuration from the working directory. By default Bun reads bunfig.toml, .env and tsconfig.json
// there, and fetches missing imports from the registry named there: a folder filled by somebody else would run code and redirect
// keys before any line of Tatami runs.
import { join } from 'node:path';

export const packageRoot = join(import.meta.dir, '../../../..');

/**
 * Flags that require a process started in `packageRoot` or `/`, because no flag stops Bun from reading
 * tsconfig.json in the working directory.
 */
export const cleanBunFlags = ['--config=/dev/null', '--no-env-file', '--no-install'] as const;
