// Arguments of `tatami login`, `logout`, `use`, `whoami`, `keys` and `members`.
import { Option, type Command } from 'commander';
import type { CreateKeyOptions, ListKeysOptions, RollKeyOptions } from '../keys.ts';
import type { LocalOptions } from '../lib/local.ts';
import type { RemoteOptions } from '../lib/remote.ts';
import type { LoginOptions } from '../login/login.ts';
import type { LogoutOptions } from '../login/logout.ts';
import type { UseOptions } from '../login/use.ts';
import type { InviteOptions } from '../members.ts';
import type { InviteHereOptions, ResetOptions } from '../operator.ts';
import { dataDir, json, remote } from './options.ts';

export function addLogin(program: Command): void {
  program
    .command('login')
    .description('log in to a server in a browser, so that commands need no API key')
    .option('--server <url>', 'address of the server (TATAMI_SERVER; default: the last one)')
    .option('--device', 'log in with a code, for machines without a browser')
    .option('--scopes <list>', 'limit the login to these scopes, such as issues:read,issues:write')
    .option(...json)
    .action(async (options: LoginOptions) => (await import('../login/login.ts')).login(options));
  program
    .command('logout [login]')
    .description('end a login, by workspace or server; default: the current one')
    .option('--all', 'end all logins')
    .option(...json)
    .action(async (named: string | undefined, options: LogoutOptions) =>
      (await import('../login/logout.ts')).logout(named, options),
    );
  program
    .command('use [login]')
    .description(
      'select the login that commands use, by workspace or server; without an argument, list the logins',
    )
    .option(...json)
    .action(async (named: string | undefined, options: UseOptions) =>
      (await import('../login/use.ts')).use(named, options),
    );
  remote(
    program.command('whoami').description('show the server, workspace and member that commands use'),
  ).action(async (options: RemoteOptions) => (await import('../login/whoami.ts')).whoami(options));
}

/** @param folder where a relative data directory begins */
export function addKeys(program: Command, folder: string): void {
  const which = 'id, prefix or name';
  const keys = program
    .command('keys')
    .description('manage API keys with access to the data directory; with a running or a stopped server');
  const load = () => import('../keys.ts');
  const local = (command: Command): Command => command.option(...dataDir).option(...json);
  local(keys.command('create').description('create an API key; it is shown once'))
    .option('--workspace <workspace>', 'id or name of the workspace, if there are several')
    .option(
      '--member <member>',
      'member that the key acts for: id, e-mail address or name; default: the first owner',
    )
    .option('--name <name>', 'name of the key', 'From the command line')
    .option('--scopes <list>', 'scopes such as issues:read,issues:write; default: all')
    .option('--expires <when>', 'time of expiry, or a duration such as 90d or 12h; default: never')
    .action(async (options: CreateKeyOptions) => (await load()).createKey(options, folder));
  local(keys.command('list').description('list the keys, newest first'))
    .option('--workspace <workspace>', 'id or name of the workspace; default: all')
    .action(async (options: ListKeysOptions) => (await load()).listKeys(options, folder));
  local(keys.command('revoke <key>').description(`revoke a key (${which}) at once`)).action(
    async (key: string, options: LocalOptions) => (await load()).revokeKey(key, options, folder),
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
    .action(async (key: string, options: RollKeyOptions) => (await load()).rollKey(key, options, folder));
}

const whichMember = 'id, e-mail address or name';
const teams: [string, string] = ['--teams <keys>', 'teams that a guest can see, comma-separated: ENG,OPS'];
const roles = ['guest', 'member', 'admin', 'owner'];

/** @param folder where a relative data directory begins */
export function addMembers(program: Command, folder: string): void {
  const members = program.command('members').description('manage the members of a workspace');
  addInvite(members, folder);
  members
    .command('reset <email>')
    .description('create a password reset link with access to the data directory; it is shown once')
    .option(...dataDir)
    .option('--codes-off', 'also turn off the one-time codes of the account, if the device is lost')
    .option(...json)
    .action(async (email: string, options: ResetOptions) =>
      (await import('../operator.ts')).reset(email, options, folder),
    );
}

function addInvite(members: Command, folder: string): void {
  remote(
    members
      .command('invite <member>')
      .description(
        `create an invitation link for a member (${whichMember}); it is shown once. Through a server, an unknown e-mail address adds a member`,
      ),
  )
    .option('--name <name>', 'name of a new member; default: the part before the @')
    .addOption(new Option('--role <role>', 'role of a new member; default: member').choices(roles))
    .option(...teams)
    .addOption(
      new Option(
        '--data-dir <dir>',
        'use this data directory instead of a server; works while the server runs, too',
      ).conflicts(['server', 'token', 'name', 'role', 'teams']),
    )
    .option('--workspace <workspace>', 'with --data-dir: id or name of the workspace, if there are several')
    .action(async (member: string, options: InviteOptions & InviteHereOptions) =>
      options.dataDir === undefined
        ? (await import('../members.ts')).invite(member, options)
        : (await import('../operator.ts')).inviteHere(member, options, folder),
    );
}
