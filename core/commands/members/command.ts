// The arguments of `tatami members …`, for whoever has the data directory: beside a running server or without one.
import type { Command } from 'commander';
import type { InviteOptions } from './invite.ts';
import type { ResetOptions } from './reset.ts';

/** @param folder where a relative data directory begins */
export function addMembers(program: Command, folder: string, json: [string, string]): void {
  const members = program
    .command('members')
    .description('people who sign in, for whoever has the data directory; the server may run or not');
  const local = (command: Command): Command =>
    command.option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)').option(...json);
  local(
    members
      .command('invite <member>')
      .description('make a link by which a member makes an account: id, address or name; it is shown once'),
  )
    .option('--workspace <workspace>', 'its id or name, where there are several')
    .action(async (member: string, options: InviteOptions) =>
      (await import('./invite.ts')).invite(member, options, folder),
    );
  local(
    members
      .command('reset <email>')
      .description('make a link by which somebody who forgot the password chooses another; it is shown once'),
  ).action(async (email: string, options: ResetOptions) =>
    (await import('./reset.ts')).reset(email, options, folder),
  );
}
