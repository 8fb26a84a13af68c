// How every Bun process of ours is started. Left to itself Bun reads bunfig.toml, .env and tsconfig.json of the folder that it is
// started in, and fetches what an import lacks from the registry named there: a folder that somebody else filled would run
// code, and say where keys are sent, before a line of ours runs.
import { join } from 'node:path';

/** The folder of Tatami itself, whose configuration is ours. */
export const packageRoot = join(import.meta.dir, '../..');

/** Beside them, the process must start in `packageRoot` or `/`: no flag keeps Bun from the current folder's tsconfig.json. */
export const cleanBunFlags = ['--config=/dev/null', '--no-env-file', '--no-install'] as const;
