// Arguments of `tatami webhooks …`.
import { Option, type Command } from 'commander';
import type { RemoteOptions } from '../lib/remote.ts';
import type { CreateWebhookOptions, RotateWebhookOptions } from '../webhooks/endpoints.ts';
import type { DeliveriesOptions } from '../webhooks/deliveries.ts';
import type { ListenOptions } from '../webhooks/listen.ts';
import type { ReplayWebhooksOptions } from '../webhooks/replay.ts';
import type { TriggerOptions } from '../webhooks/trigger.ts';
import { remote } from './options.ts';

/** @param folder where relative paths begin @returns the command that handles its own interrupts */
export function addWebhooks(program: Command, folder: string): Command {
  const webhooks = program
    .command('webhooks')
    .description('register and test webhooks, and inspect deliveries');
  addEndpoints(webhooks);
  addDeliveries(webhooks);
  return addListen(webhooks, folder);
}

function addListen(webhooks: Command, folder: string): Command {
  return remote(
    webhooks
      .command('listen')
      .description('forward events to a program on this machine as they happen, signed like deliveries'),
  )
    .requiredOption('--forward-to <url>', 'address of the program')
    .option('--events <types>', 'comma-separated: issue.created, issue.*, or *', '*')
    .option('--after <sequence>', 'start after this sequence of the event log')
    .option('--secret <secret>', 'sign with this secret; default: a secret stored for the workspace')
    .option('--write-env <file>', 'set TATAMI_WEBHOOK_SECRET in this file')
    .action(async (options: ListenOptions) =>
      (await import('../webhooks/listen.ts')).listen(options, folder),
    );
}

function addEndpoints(webhooks: Command): void {
  remote(webhooks.command('list').description('list the registered endpoints')).action(
    async (options: RemoteOptions) => (await import('../webhooks/endpoints.ts')).listWebhooks(options),
  );
  remote(webhooks.command('create').description('register an endpoint; its signing secret is shown once'))
    .requiredOption('--url <url>', 'address that receives the deliveries')
    .requiredOption('--events <types>', 'comma-separated: issue.created, issue.*, or *')
    .option('--description <text>', 'description of the endpoint')
    .option('--filter <json>', 'deliver only events that match this filter, in the format of list filters')
    .addOption(
      new Option('--ordering <how>', 'entity: deliver the events of an issue one after the other').choices([
        'none',
        'entity',
      ]),
    )
    .action(async (options: CreateWebhookOptions) =>
      (await import('../webhooks/endpoints.ts')).createWebhook(options),
    );
  remote(webhooks.command('rotate <webhook>').description('create a new signing secret'))
    .option('--overlap-hours <n>', 'hours that the previous secret also signs, 0 to 168 (default 24)')
    .action(async (webhook: string, options: RotateWebhookOptions) =>
      (await import('../webhooks/endpoints.ts')).rotateWebhookSecret(webhook, options),
    );
  remote(webhooks.command('ping <webhook>').description('send a webhook.ping event to one endpoint')).action(
    async (webhook: string, options: RemoteOptions) =>
      (await import('../webhooks/trigger.ts')).ping(webhook, options),
  );
  remote(webhooks.command('trigger <type>').description('send a sample event to listeners; changes nothing'))
    .option(
      '--set <key=value>',
      'set a field of the event data; repeatable',
      (one, all: string[]) => [...all, one],
      [],
    )
    .option('--webhook <webhook>', 'send the sample to this endpoint instead')
    .action(async (type: string, options: TriggerOptions) =>
      (await import('../webhooks/trigger.ts')).trigger(type, options),
    );
}

function addDeliveries(webhooks: Command): void {
  remote(
    webhooks
      .command('deliveries [webhook|delivery]')
      .description('list deliveries, newest first, or show one with its attempts'),
  )
    .option('--status <status>', 'pending, delivering, retrying, delivered, failed or canceled')
    .option('--event-type <type>', 'only this event type')
    .option('--since <when>', 'only deliveries created since a time, or an age such as 2h')
    .option('--limit <n>', 'deliveries to list, up to 100', '20')
    .action(async (of: string | undefined, options: DeliveriesOptions) =>
      (await import('../webhooks/deliveries.ts')).deliveries(of, options),
    );
  remote(
    webhooks
      .command('replay <delivery|event|webhook>')
      .description(
        'resend one delivery, or all deliveries of an endpoint since a time, with a new signature',
      ),
  )
    .option('--to <url>', 'send from this machine to this address, signed with the secret of `listen`')
    .option('--secret <secret>', 'with --to: sign with this secret')
    .option('--since <when>', 'for an endpoint: deliveries since a time, or an age such as 2h')
    .option('--until <when>', 'for an endpoint: deliveries until a time, or an age such as 1h')
    .option('--undelivered', 'for an endpoint: only events that were never delivered')
    .action(async (what: string, options: ReplayWebhooksOptions) =>
      (await import('../webhooks/replay.ts')).replay(what, options),
    );
}
