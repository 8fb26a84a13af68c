// Options that several commands take.
import type { Command } from 'commander';

export const json: [string, string] = ['--json', 'print one JSON value on stdout'];
export const dataDir: [string, string] = ['--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)'];

/** Adds the options of a command that calls a server. */
export function remote(command: Command): Command {
  return command
    .option(
      '--server <url>',
      'address of the server (TATAMI_SERVER; default: the server of your login, else http://127.0.0.1:4700)',
    )
    .option('--token <key>', 'API key (TATAMI_TOKEN), used instead of your login')
    .option(...json);
}
