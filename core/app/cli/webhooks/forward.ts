// `tatami webhooks forward DELIVERY|EVENT --to URL`: sends an event from this machine, signed as `listen` signs.
import type { Call } from '../../../../sdk/client/index.ts';
import type { EventEnvelope } from '../../../kernel/events/event.ts';
import { payloadOfEvent } from '../../../features/webhooks/offline.ts';
import { usage } from '../lib/flags.ts';
import { CommandError, exitCodes, printResult } from '../lib/output.ts';
import { connect, remoteOf } from '../lib/remote.ts';
import { getDelivery, outcome } from '../operations/views/deliveries.ts';
import { createForwarder, checkSecret, localSecret, type LocalMessage, type SecretOptions } from './local.ts';

export interface ForwardOptions extends SecretOptions {
  to: string;
}

export async function forward(what: string, options: ForwardOptions): Promise<void> {
  if (!/^(dlv|evt)_/.test(what)) throw usage(`Pass a delivery (dlv_…) or an event (evt_…), not "${what}".`);
  checkSecret(options);
  const call = connect(options);
  const forwarder = await createForwarder('--to', options.to, await localSecret(call, options));
  const forwarded = await forwarder.forward(await messageOf(call, what, remoteOf(options).server));
  forwarder.close();
  if (forwarded === null) throw new CommandError('Interrupted.', exitCodes.interrupted);
  const { worked, ...result } = forwarded;
  printResult(
    result,
    options,
    (shown) => `replayed as ${shown.deliveryId} (same ${shown.eventId}, new signature) ${outcome(shown)}`,
  );
  if (!worked) process.exitCode = exitCodes.failed;
}

async function messageOf(call: Call, what: string, server: string): Promise<LocalMessage> {
  if (what.startsWith('dlv_')) {
    const { eventId, eventType, payload } = await getDelivery(call, what);
    return { eventId, type: eventType, payload };
  }
  const event = await call<EventEnvelope>('GET', `/events/${encodeURIComponent(what)}`);
  return { eventId: event.id, type: event.type, payload: payloadOfEvent(event, server) };
}
