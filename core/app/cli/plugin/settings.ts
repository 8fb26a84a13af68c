// The file of `--settings`: all settings of a plugin, as JSON.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseJsonText } from '../../../platform/lib/json/json-fault.ts';
import { CommandError, exitCodes } from '../lib/output.ts';

/** @param folder where a relative path begins @throws CommandError where it cannot be read */
export function readSettings(file: string, folder: string): unknown {
  try {
    return parseJsonText(readFileSync(resolve(folder, file), 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      `Pass a readable JSON file with --settings. ${file} cannot be read: ${why}`,
      exitCodes.usage,
      {
        cause: error,
      },
    );
  }
}
