// The arguments of `tatami members …`: over a server, and for whoever has the data directory. Each command is a file beside this one,
// loaded when it is asked for.
import { Option, type Command } from 'commander';
import type { RemoteOptions } from '../lib/remote.ts';
import type { InviteHereOptions } from './invite-here.ts';
import type { InviteOptions } from './invite.ts';
import type { TeamsOptions } from './members.ts';
import type { ResetOptions } from './reset.ts';

const which = 'id, e-mail address or name';
const teams: [string, string] = ['--teams <keys>', 'teams that a guest can see, comma-separated: ENG,OPS'];
const roles = ['guest', 'member', 'admin', 'owner'];

/**
 * @param remote gives a command the options of those that talk to a server
 * @param folder where a relative data directory begins
 */
export function addMembers(
  program: Command,
  remote: (command: Command) => Command,
  folder: string,
  json: [string, string],
): void {
  const members = program.command('members').description('manage the members of a workspace');
  const load = () => import('./members.ts');
  remote(members.command('list').description('list the members')).action(async (options: RemoteOptions) =>
    (await load()).listMembers(options),
  );
  addInvite(members, remote, folder);
  remote(members.command('role <member> <role>').description(`change the role of a member (${which})`))
    .option(...teams)
    .action(async (member: string, role: string, options: TeamsOptions) =>
      (await load()).setRole(member, role, options),
    );
  remote(
    members
      .command('remove <member>')
      .description(`remove a member (${which}) and revoke their keys and grants`),
  ).action(async (member: string, options: RemoteOptions) => (await load()).removeMember(member, options));
  members
    .command('reset <email>')
    .description('create a password reset link with access to the data directory; it is shown once')
    .option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)')
    .option('--codes-off', 'also turn off the one-time codes of the account, if the device is lost')
    .option(...json)
    .action(async (email: string, options: ResetOptions) =>
      (await import('./reset.ts')).reset(email, options, folder),
    );
}

function addInvite(members: Command, remote: (command: Command) => Command, folder: string): void {
  remote(
    members
      .command('invite <member>')
      .description(
        `create an invitation link for a member (${which}); it is shown once. Through a server, an unknown e-mail address adds a member`,
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
        ? (await import('./invite.ts')).invite(member, options)
        : (await import('./invite-here.ts')).inviteHere(member, options, folder),
    );
}
