// `tatami master-key rotate`: seals all stored secrets with a new master key. The server must be stopped.
import { readConfig } from '../config/config.ts';
import { rotateMasterKey } from '../setup/master-key.ts';
import { requireDatabase } from './lib/local.ts';
import { printResult } from './lib/output.ts';

export interface MasterKeyOptions {
  dataDir?: string;
  json?: boolean;
}

/** @param folder where a relative data directory begins */
export async function rotate({ dataDir, json }: MasterKeyOptions, folder: string): Promise<void> {
  const config = readConfig(dataDir === undefined ? {} : { dataDir }, undefined, folder);
  requireDatabase(config.dataDir);
  const rotated = await rotateMasterKey(config.dataDir, Date.now);
  printResult(rotated, { json }, ({ resealed, keyFile, oldKeyFile }) =>
    [
      `${resealed} secrets are encrypted with a new key`,
      `key  ${keyFile}   copy it to a safe place`,
      `old  ${oldKeyFile}   needed for earlier backups: store it elsewhere, as long as you have those backups`,
    ].join('\n'),
  );
}
