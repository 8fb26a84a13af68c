// The arguments of `tatami grants …`.
import type { Command } from 'commander';
import type { RemoteOptions } from '../lib/remote.ts';

/** @param remote gives a command the options of those that talk to a server */
export function addGrants(program: Command, remote: (command: Command) => Command): void {
  const grants = program.command('grants').description('apps that members have authorized');
  const load = () => import('./grants.ts');
  remote(
    grants.command('list').description('list the grants, newest first; admins see the grants of all members'),
  )
    .option('--all', 'include revoked grants')
    .action(async (options: RemoteOptions & { all?: boolean }) => (await load()).listGrants(options));
  remote(
    grants.command('revoke <grant>').description('revoke a grant; its tokens stop working at once'),
  ).action(async (grant: string, options: RemoteOptions) => (await load()).revokeGrant(grant, options));
}
