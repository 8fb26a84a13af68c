// Shared code of commands that work on a data directory.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from './output.ts';

/** Requires an existing database, because opening a data directory would create one. @throws CommandError */
export function requireDatabase(dataDir: string): void {
  if (!existsSync(join(dataDir, 'tatami.db')))
    throw new CommandError(
      `${dataDir} has no database. Set the data directory of your server with --data-dir.`,
    );
}
