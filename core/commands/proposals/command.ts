// `tatami proposals`: its subcommands and their options.
import type { Command } from 'commander';
import type { RemoteOptions } from '../remote.ts';

/** @param remote gives a command the options of those that talk to a server */
export function addProposals(program: Command, remote: (command: Command) => Command): void {
  const proposals = program
    .command('proposals')
    .description('look at changes that wait for approval, and decide');
  const load = () => import('./proposals.ts');
  remote(proposals.command('list').description('list the proposals that wait, newest first'))
    .option('--all', 'those that were decided as well')
    .action(async (options: RemoteOptions & { all?: boolean }) => (await load()).listProposals(options));
  remote(proposals.command('show <proposal>').description('show what a proposal would change')).action(
    async (id: string, options: RemoteOptions) => (await load()).showProposal(id, options),
  );
  remote(proposals.command('approve <proposal>').description('approve a proposal, all of it or a part'))
    .option('--effects <ids>', 'only these of its effects, with commas; the others are rejected by it')
    .option('--revision <n>', 'the revision that you looked at; by default the first')
    .action(async (id: string, options: RemoteOptions & { effects?: string; revision?: string }) =>
      (await load()).approveProposal(id, options),
    );
  remote(proposals.command('reject <proposal>').description('reject a proposal'))
    .requiredOption('--reason <text>', 'why, in words')
    .action(async (id: string, options: RemoteOptions & { reason: string }) =>
      (await load()).rejectProposal(id, options),
    );
}
