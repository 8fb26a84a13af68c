// The arguments of `tatami grants …`.
import type { Command } from 'commander';
import type { RemoteOptions } from '../remote.ts';

/** @param remote gives a command the options of those that talk to a server */
export function addGrants(program: Command, remote: (command: Command) => Command): void {
  const grants = program.command('grants').description('what members have let apps do for them');
  const load = () => import('./grants.ts');
  remote(
    grants.command('list').description('list what is granted, newest first; admins see that of everybody'),
  )
    .option('--all', 'what was revoked as well')
    .action(async (options: RemoteOptions & { all?: boolean }) => (await load()).listGrants(options));
  remote(
    grants.command('revoke <grant>').description('revoke what an app was granted; its tokens end at once'),
  ).action(async (grant: string, options: RemoteOptions) => (await load()).revokeGrant(grant, options));
}
