// The arguments of `tatami apps …`.
import type { Command } from 'commander';
import type { RemoteOptions } from '../lib/remote.ts';
import type { CreateAppOptions } from './apps.ts';

/** @param remote gives a command the options of those that talk to a server */
export function addApps(program: Command, remote: (command: Command) => Command): void {
  const apps = program.command('apps').description('manage the OAuth apps that members can authorize');
  const load = () => import('./apps.ts');
  remote(apps.command('list').description('list the apps, newest first')).action(
    async (options: RemoteOptions) => (await load()).listApps(options),
  );
  remote(
    apps.command('create').description('register an app; the secret of a confidential app is shown once'),
  )
    .requiredOption('--name <name>', 'name of the app on the consent page')
    .requiredOption(
      '--redirect-uri <uri>',
      'redirect URI of the app; repeatable',
      (one: string, all: string[] | undefined) => [...(all ?? []), one],
    )
    .option('--confidential', 'the app runs on a server and can keep a client secret')
    .option('--description <text>', 'description of the app')
    .option('--homepage <url>', 'home page of the app')
    .action(async (options: CreateAppOptions) => (await load()).createApp(options));
  remote(
    apps
      .command('rotate-secret <app>')
      .description('create a new secret for an app (id or name); it is shown once'),
  )
    .option('--grace-hours <n>', 'hours that earlier secrets stay valid, 0 to 168 (default 24)')
    .action(async (app: string, options: RemoteOptions & { graceHours?: string }) =>
      (await load()).rotateSecret(app, options),
    );
  remote(apps.command('delete <app>').description('delete an app (id or name) and revoke its grants')).action(
    async (app: string, options: RemoteOptions) => (await load()).deleteApp(app, options),
  );
}
