// The arguments of `tatami apps …`.
import type { Command } from 'commander';
import type { RemoteOptions } from '../remote.ts';
import type { CreateOptions } from './apps.ts';

/** @param remote gives a command the options of those that talk to a server */
export function addApps(program: Command, remote: (command: Command) => Command): void {
  const apps = program
    .command('apps')
    .description('OAuth apps: programs of others that members can let act for them');
  const load = () => import('./apps.ts');
  remote(apps.command('list').description('list the apps, newest first')).action(
    async (options: RemoteOptions) => (await load()).listApps(options),
  );
  remote(
    apps.command('create').description('register an app; the secret of a confidential one is shown once'),
  )
    .requiredOption('--name <name>', 'what people are asked to let in')
    .requiredOption(
      '--redirect-uri <uri>',
      'where browsers may be sent back to; repeatable',
      (one: string, all: string[] | undefined) => [...(all ?? []), one],
    )
    .option('--confidential', 'it runs on a server, and keeps a secret')
    .option('--description <text>', 'what it does')
    .option('--homepage <url>', 'where people read about it')
    .action(async (options: CreateOptions) => (await load()).createApp(options));
  remote(
    apps
      .command('rotate-secret <app>')
      .description('make another secret for an app (id or name); it is shown once'),
  )
    .option('--grace-hours <n>', 'how long earlier ones are good as well, 0 to 168 (default 24)')
    .action(async (app: string, options: RemoteOptions & { graceHours?: string }) =>
      (await load()).rotateSecret(app, options),
    );
  remote(
    apps.command('delete <app>').description('delete an app (id or name); what it was granted ends at once'),
  ).action(async (app: string, options: RemoteOptions) => (await load()).deleteApp(app, options));
}
