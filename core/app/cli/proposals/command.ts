// `tatami proposals`: its subcommands and their options.
import type { Command } from 'commander';
import type { RemoteOptions } from '../lib/remote.ts';

/** @param remote gives a command the options of those that talk to a server */
export function addProposals(program: Command, remote: (command: Command) => Command): void {
  const proposals = program.command('proposals').description('review the changes that are pending approval');
  const load = () => import('./proposals.ts');
  remote(proposals.command('list').description('list open proposals, newest first'))
    .option('--all', 'include decided proposals')
    .action(async (options: RemoteOptions & { all?: boolean }) => (await load()).listProposals(options));
  remote(proposals.command('show <proposal>').description('show the changes of a proposal')).action(
    async (id: string, options: RemoteOptions) => (await load()).showProposal(id, options),
  );
  remote(proposals.command('approve <proposal>').description('approve a proposal, or some of its effects'))
    .option('--effects <ids>', 'ids of the effects to approve, comma-separated; the others are rejected')
    .option('--revision <n>', 'the revision that you reviewed; default: the first')
    .action(async (id: string, options: RemoteOptions & { effects?: string; revision?: string }) =>
      (await load()).approveProposal(id, options),
    );
  remote(proposals.command('reject <proposal>').description('reject a proposal'))
    .requiredOption('--reason <text>', 'reason for the rejection')
    .action(async (id: string, options: RemoteOptions & { reason: string }) =>
      (await load()).rejectProposal(id, options),
    );
}
