// The arguments of `tatami webhooks …`. Each command is a file beside this one, loaded when it is asked for.
import { Option, type Command } from 'commander';
import type { RemoteOptions } from '../remote.ts';
import type { CreateOptions } from './create.ts';
import type { DeliveriesOptions } from './deliveries.ts';
import type { ListenOptions } from './listen.ts';
import type { ReplayOptions } from './replay.ts';
import type { TriggerOptions } from './trigger.ts';

/**
 * Answers the command that has its own way to be interrupted.
 * @param remote adds what every command that talks to a server takes
 * @param folder where paths among the arguments begin
 */
export function addWebhooks(
  program: Command,
  remote: (command: Command) => Command,
  folder: string,
): Command {
  const webhooks = program
    .command('webhooks')
    .description('register webhooks, try them, and see what was sent');
  addEndpoints(webhooks, remote);
  addDeliveries(webhooks, remote);
  return addListen(webhooks, remote, folder);
}

function addListen(webhooks: Command, remote: (command: Command) => Command, folder: string): Command {
  return remote(
    webhooks
      .command('listen')
      .description('forward events to a program on this machine as they happen, signed as deliveries are'),
  )
    .requiredOption('--forward-to <url>', 'address of the program')
    .option('--events <types>', 'comma-separated: issue.created, issue.*, or *', '*')
    .option('--after <sequence>', 'begin with what happened after this event of the log')
    .option('--secret <secret>', 'sign with this secret; by default with one that is kept for the workspace')
    .option('--write-env <file>', 'set TATAMI_WEBHOOK_SECRET in this file')
    .action(async (options: ListenOptions) => (await import('./listen.ts')).listen(options, folder));
}

function addEndpoints(webhooks: Command, remote: (command: Command) => Command): void {
  remote(webhooks.command('list').description('list the registered endpoints')).action(
    async (options: RemoteOptions) => (await import('./list.ts')).list(options),
  );
  remote(webhooks.command('create').description('register an endpoint; its signing secret is shown once'))
    .requiredOption('--url <url>', 'where deliveries go')
    .requiredOption('--events <types>', 'comma-separated: issue.created, issue.*, or *')
    .option('--description <text>', 'what it is for')
    .option('--filter <json>', 'only events that match, by what they show, in the filter language of lists')
    .addOption(
      new Option('--ordering <how>', 'entity: one after the other per issue').choices(['none', 'entity']),
    )
    .action(async (options: CreateOptions) => (await import('./create.ts')).create(options));
  remote(webhooks.command('rotate <webhook>').description('make a new signing secret'))
    .option('--overlap-hours <n>', 'how long the one before signs as well, 0 to 168 (default 24)')
    .action(async (webhook: string, options: RemoteOptions & { overlapHours?: string }) =>
      (await import('./rotate.ts')).rotate(webhook, options),
    );
  remote(webhooks.command('ping <webhook>').description('send a webhook.ping event to one endpoint')).action(
    async (webhook: string, options: RemoteOptions) => (await import('./ping.ts')).ping(webhook, options),
  );
  remote(
    webhooks
      .command('trigger <type>')
      .description('send a sample of an event to listeners; it changes nothing'),
  )
    .option(
      '--set <key=value>',
      'set a field of its data; repeatable',
      (one, all: string[]) => [...all, one],
      [],
    )
    .option('--webhook <webhook>', 'send it to this endpoint instead')
    .action(async (type: string, options: TriggerOptions) =>
      (await import('./trigger.ts')).trigger(type, options),
    );
}

function addDeliveries(webhooks: Command, remote: (command: Command) => Command): void {
  remote(
    webhooks
      .command('deliveries [webhook|delivery]')
      .description('list deliveries, newest first; or show one with its attempts'),
  )
    .option('--status <status>', 'pending, delivering, retrying, delivered, failed or canceled')
    .option('--event-type <type>', 'of one event type')
    .option('--since <when>', 'made since a time, or 2h')
    .option('--limit <n>', 'deliveries to list, up to 100', '20')
    .action(async (of: string | undefined, options: DeliveriesOptions) =>
      (await import('./deliveries.ts')).deliveries(of, options),
    );
  remote(
    webhooks
      .command('replay <delivery|event|webhook>')
      .description('send again, freshly signed: one delivery, or all of an endpoint since a time'),
  )
    .option('--to <url>', 'send it from here to this address, signed with the secret of `listen`')
    .option('--secret <secret>', 'with --to: sign with this secret')
    .option('--since <when>', 'of an endpoint: all since a time, or 2h')
    .option('--until <when>', 'and up to then')
    .option('--undelivered', 'and only what was never delivered')
    .action(async (what: string, options: ReplayOptions) =>
      (await import('./replay.ts')).replay(what, options),
    );
}
