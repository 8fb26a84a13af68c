// `tatami webhooks trigger TYPE` and `ping WHE`: test events, which are in no log and change nothing.
import { counted } from '../../../platform/lib/text/words.ts';
import { usage } from '../lib/flags.ts';
import { CommandError, printResult } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { deliverAndPrint } from './deliveries.ts';

export interface TriggerOptions extends RemoteOptions {
  set: string[];
  webhook?: string;
}

export async function trigger(type: string, options: TriggerOptions): Promise<void> {
  const body = { type, ...(options.set.length === 0 ? {} : { data: dataOf(options.set) }) };
  if (options.webhook !== undefined)
    return deliverAndPrint(
      options,
      `/webhooks/${encodeURIComponent(options.webhook)}/samples`,
      body,
      ({ id, eventId }) => `sent a sample of ${type} as ${id} (${eventId})`,
    );
  const sent = await connect(options)<{ listeners: number; event: { id: string } }>(
    'POST',
    '/events/samples',
    body,
  );
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

/** `key=value`, the value as JSON where it is JSON: `priority=urgent`, `estimate=3`, `labels=[]`. */
function dataOf(settings: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    settings.map((setting) => {
      const at = setting.indexOf('=');
      if (at < 1) throw usage(`--set must be key=value, not "${setting}".`);
      return [setting.slice(0, at), valueOf(setting.slice(at + 1))];
    }),
  );
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function ping(webhook: string, options: RemoteOptions): Promise<void> {
  return deliverAndPrint(
    options,
    `/webhooks/${encodeURIComponent(webhook)}/ping`,
    undefined,
    ({ id, eventId }) => `pinged as ${id} (${eventId})`,
  );
}
