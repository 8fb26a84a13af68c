// What commands that work on a data directory share.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from './output.ts';

/** For commands that change what is there: opening a directory would make one. @throws CommandError */
export function requireDatabase(dataDir: string): void {
  if (!existsSync(join(dataDir, 'tatami.db')))
    throw new CommandError(
      `${dataDir} has no database. Set the data directory of your server with --data-dir.`,
    );
}
