// Arguments of the handwritten commands of `tatami webhooks …`.
import type { Command } from 'commander';
import type { ForwardOptions, ListenOptions } from '../webhooks/listen.ts';
import type { TriggerOptions } from '../webhooks/trigger.ts';
import { remote } from './options.ts';

/** @param folder where relative paths begin @returns the command that handles its own interrupts */
export function addWebhooks(program: Command, folder: string): Command {
  const webhooks = program
    .command('webhooks')
    .description('register and test webhooks, and inspect deliveries');
  addTrigger(webhooks, folder);
  addForward(webhooks);
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

function addTrigger(webhooks: Command, folder: string): void {
  remote(webhooks.command('trigger <type>').description('send a sample event to listeners; changes nothing'))
    .option(
      '--set <key=value>',
      'set a field of the event data; repeatable',
      (one, all: string[]) => [...all, one],
      [],
    )
    .option('--webhook <webhook>', 'send the sample to this endpoint instead')
    .action(async (type: string, options: TriggerOptions) =>
      (await import('../webhooks/trigger.ts')).trigger(type, options, folder),
    );
}

function addForward(webhooks: Command): void {
  remote(
    webhooks
      .command('forward <delivery|event>')
      .description('send a past event from this machine to an address, signed with the secret of `listen`'),
  )
    .requiredOption('--to <url>', 'address that receives the event')
    .option('--secret <secret>', 'sign with this secret')
    .action(async (what: string, options: ForwardOptions) =>
      (await import('../webhooks/listen.ts')).forward(what, options),
    );
}
