// `tatami webhooks replay DLV`: the same event once more, signed afresh; with `--to`, from here to an address of this machine.
// `tatami webhooks replay WHE --since …`: everything of a while once more.
import type { Call } from '../../../../sdk/client/index.ts';
import type { EventEnvelope } from '../../../kernel/events/event.ts';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { payloadOfEvent } from '../../../features/webhooks/offline.ts';
import { moment, usage } from '../lib/flags.ts';
import { CommandError, exitCodes, printResult } from '../lib/output.ts';
import { poll } from '../lib/poll.ts';
import { connect, remoteOf } from '../lib/remote.ts';
import { deliverAndPrint, getDelivery, outcome } from './deliveries.ts';
import { createForwarder, checkSecret, localSecret, type LocalMessage, type SecretOptions } from './local.ts';

export interface ReplayWebhooksOptions extends SecretOptions {
  to?: string;
  since?: string;
  until?: string;
  undelivered?: boolean;
}

interface Replay {
  id: string;
  webhookId: string;
  status: 'running' | 'done' | 'canceled';
  deliveries: number;
}

export function replay(what: string, options: ReplayWebhooksOptions): Promise<void> {
  const { to, since, until, undelivered } = options;
  const [kind] = what.split('_');
  if (kind === 'whe') {
    if (to !== undefined) throw usage('--to resends a single delivery or event. Pass a dlv_… or evt_… id.');
    if (since === undefined)
      throw usage('To replay the deliveries of an endpoint, add --since with a time or an age such as 2h.');
    return replayRange(what, since, options);
  }
  if (kind !== 'dlv' && kind !== 'evt')
    throw usage(`Pass a delivery (dlv_…), an event (evt_…) or an endpoint (whe_…), not "${what}".`);
  if (since !== undefined || until !== undefined || undelivered === true)
    throw usage('--since, --until and --undelivered need an endpoint (whe_…).');
  if (to !== undefined) return replayHere(what, to, options);
  if (kind === 'evt')
    throw usage(
      'An event has no target address. Add --to URL, or pass a delivery (dlv_…) to resend it to its endpoint.',
    );
  return deliverAndPrint(
    options,
    `/deliveries/${encodeURIComponent(what)}/replay`,
    undefined,
    ({ id, eventId }) => `replayed as ${id} (same ${eventId}, new signature)`,
  );
}

async function replayRange(webhook: string, since: string, options: ReplayWebhooksOptions): Promise<void> {
  const now = systemClock.nowMs();
  const body = {
    since: moment('--since', since, now),
    ...(options.until === undefined ? {} : { until: moment('--until', options.until, now) }),
    ...(options.undelivered === true ? { only: 'undelivered' } : {}),
  };
  const call = connect(options);
  const begun = await call<Replay>('POST', `/webhooks/${encodeURIComponent(webhook)}/replays`, body);
  const ended = await poll(
    begun,
    () => call<Replay>('GET', `/replays/${begun.id}`),
    ({ status }) => status !== 'running',
  );
  printResult(
    ended,
    options,
    ({ id, deliveries, status }) =>
      `resent ${deliveries} deliver${deliveries === 1 ? 'y' : 'ies'} to ${webhook} since ${body.since} (${id}${status === 'canceled' ? ', canceled' : ''})`,
  );
  if (ended.status === 'canceled') process.exitCode = exitCodes.failed;
}

async function replayHere(what: string, to: string, options: ReplayWebhooksOptions): Promise<void> {
  checkSecret(options);
  const call = connect(options);
  const forwarder = await createForwarder('--to', to, await localSecret(call, options));
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
