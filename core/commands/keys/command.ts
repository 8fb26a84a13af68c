// The arguments of `tatami keys …`, for whoever has the data directory: beside a running server or without one. Each command is a file
// beside this one, loaded when it is asked for.
import type { Command } from 'commander';
import type { CreateOptions } from './create.ts';
import type { ListOptions } from './list.ts';
import type { RevokeOptions } from './revoke.ts';
import type { RollOptions } from './roll.ts';

const which = 'its id, its prefix, or its name';

/** @param folder where a relative data directory begins */
export function addKeys(program: Command, folder: string, json: [string, string]): void {
  const keys = program
    .command('keys')
    .description('API keys, for whoever has the data directory; the server may run or not');
  const local = (command: Command): Command =>
    command.option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)').option(...json);
  local(keys.command('create').description('make an API key; it is shown once'))
    .option('--workspace <workspace>', 'its id or name, where there are several')
    .option('--member <member>', 'whom it acts for: id, address or name; by default the first owner')
    .option('--name <name>', 'name of the key', 'From the command line')
    .option('--scopes <list>', 'scopes such as issues:read,issues:write; by default all')
    .option('--expires <when>', 'a time, or in 90d or 12h; by default never')
    .action(async (options: CreateOptions) => (await import('./create.ts')).create(options, folder));
  local(keys.command('list').description('list the keys, newest first'))
    .option('--workspace <workspace>', 'its id or name; by default all')
    .action(async (options: ListOptions) => (await import('./list.ts')).list(options, folder));
  local(keys.command('revoke <key>').description(`end a key at once: ${which}`)).action(
    async (key: string, options: RevokeOptions) => (await import('./revoke.ts')).revoke(key, options, folder),
  );
  local(
    keys
      .command('roll <key>')
      .description(
        `make a successor with the same name, scopes and member; the old key goes on for the grace`,
      ),
  )
    .option('--grace <time>', 'so long the old key goes on: 0 to 24h, such as 30m', '24h')
    .option('--all-scopes', 'the successor gets every scope there is, also those newer than the key')
    .option('--expires <when>', 'of the successor: a time, in 90d, or never; by default after as long a life')
    .action(async (key: string, options: RollOptions) =>
      (await import('./roll.ts')).roll(key, options, folder),
    );
}
