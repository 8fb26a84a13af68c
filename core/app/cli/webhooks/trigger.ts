// `tatami webhooks trigger TYPE`: a sample of an event, which is in no log and changes nothing.
import { counted } from '../../../platform/lib/text/words.ts';
import { CommandError, printResult } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { flagError } from '../operations/errors.ts';
import { perform } from '../operations/perform.ts';
import { operationOf } from '../operations/table/table.ts';
import { mapOf } from '../operations/values.ts';

export interface TriggerOptions extends RemoteOptions {
  set: string[];
  webhook?: string;
}

/** @param folder in which relative paths begin */
export async function trigger(type: string, options: TriggerOptions, folder: string): Promise<void> {
  const { set, webhook, ...others } = options;
  const data = set.length === 0 ? {} : { data: mapOf('set', set) };
  if (webhook !== undefined)
    return perform({
      operation: operationOf('webhooks.sample'),
      args: { id: webhook },
      options: others,
      body: { type, ...data },
      folder,
    });
  const sent = await connect(options)<{ listeners: number; event: { id: string } }>(
    'POST',
    '/events/samples',
    {
      type,
      ...data,
    },
  ).catch((error: unknown) => {
    throw flagError(error, operationOf('events.sample'));
  });
  if (sent.listeners === 0)
    throw new CommandError(
      `No listener receives ${type}. Start \`tatami webhooks listen --forward-to URL\` first, or name an endpoint with --webhook whe_….`,
    );
  printResult(
    sent,
    options,
    ({ event, listeners }) => `${type}  ${event.id}  sample sent to ${counted(listeners, 'listener')}`,
  );
}
