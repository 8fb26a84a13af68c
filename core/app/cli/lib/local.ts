// Shared code of commands that work on a data directory.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, type Config } from '../../config/config.ts';
import { CommandError } from './output.ts';

export interface LocalOptions {
  dataDir?: string;
  json?: boolean;
}

/** @param folder where a relative data directory begins */
export function localConfig({ dataDir }: LocalOptions, folder: string): Config {
  return readConfig(dataDir === undefined ? {} : { dataDir }, undefined, folder);
}

/** The same for a directory with a database. @throws CommandError */
export function existingDataDir(options: LocalOptions, folder: string): Config {
  const config = localConfig(options, folder);
  requireDatabase(config.dataDir);
  return config;
}

/** Requires an existing database, because opening a data directory would create one. @throws CommandError */
export function requireDatabase(dataDir: string): void {
  if (!existsSync(join(dataDir, 'tatami.db')))
    throw new CommandError(
      `${dataDir} has no database. Set the data directory of your server with --data-dir.`,
    );
}
