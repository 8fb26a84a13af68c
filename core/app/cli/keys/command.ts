// The arguments of `tatami keys …`, for whoever has the data directory: beside a running server or without one. Each command is a file
// beside this one, loaded when it is asked for.
import type { Command } from 'commander';
import type { CreateKeyOptions } from './create.ts';
import type { ListOptions } from './list.ts';
import type { RevokeOptions } from './revoke.ts';
import type { RollOptions } from './roll.ts';

const which = 'id, prefix or name';

/** @param folder where a relative data directory begins */
export function addKeys(program: Command, folder: string, json: [string, string]): void {
  const keys = program
    .command('keys')
    .description('manage API keys with access to the data directory; with a running or a stopped server');
  const local = (command: Command): Command =>
    command.option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)').option(...json);
  local(keys.command('create').description('create an API key; it is shown once'))
    .option('--workspace <workspace>', 'id or name of the workspace, if there are several')
    .option(
      '--member <member>',
      'member that the key acts for: id, e-mail address or name; default: the first owner',
    )
    .option('--name <name>', 'name of the key', 'From the command line')
    .option('--scopes <list>', 'scopes such as issues:read,issues:write; default: all')
    .option('--expires <when>', 'time of expiry, or a duration such as 90d or 12h; default: never')
    .action(async (options: CreateKeyOptions) => (await import('./create.ts')).create(options, folder));
  local(keys.command('list').description('list the keys, newest first'))
    .option('--workspace <workspace>', 'id or name of the workspace; default: all')
    .action(async (options: ListOptions) => (await import('./list.ts')).list(options, folder));
  local(keys.command('revoke <key>').description(`revoke a key (${which}) at once`)).action(
    async (key: string, options: RevokeOptions) => (await import('./revoke.ts')).revoke(key, options, folder),
  );
  local(
    keys
      .command('roll <key>')
      .description(
        `replace a key with a new one of the same name, scopes and member; the old key works for the grace period`,
      ),
  )
    .option('--grace <time>', 'grace period of the old key: 0 to 24h, such as 30m', '24h')
    .option('--all-scopes', 'give the new key all scopes, including those newer than the old key')
    .option(
      '--expires <when>',
      'expiry of the new key: a time, a duration such as 90d, or never; default: the lifetime of the old key',
    )
    .action(async (key: string, options: RollOptions) =>
      (await import('./roll.ts')).roll(key, options, folder),
    );
}
