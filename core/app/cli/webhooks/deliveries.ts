// `tatami webhooks deliveries [WHE|DLV]`: what was sent, what came back and what is due; or all of one delivery.
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { moment, usage, wholeNumber } from '../lib/flags.ts';
import { printResult } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import {
  getDelivery,
  nextAttempt,
  outcome,
  type ListedAttempt,
  type Delivery,
  type DeliveryDetail,
} from './delivery.ts';

export interface DeliveriesOptions extends RemoteOptions {
  status?: string;
  eventType?: string;
  since?: string;
  limit: string;
}

export async function deliveries(of: string | undefined, options: DeliveriesOptions): Promise<void> {
  const { status, eventType, since } = options;
  const limit = wholeNumber('--limit', options.limit, 1, 100);
  if (of?.startsWith('dlv_')) {
    if (status !== undefined || eventType !== undefined || since !== undefined)
      throw usage('A single delivery cannot be filtered. Omit --status, --event-type and --since.');
    const delivery = await getDelivery(connect(options), of);
    return printResult(delivery, options, detailLines);
  }
  const query = new URLSearchParams({
    limit: String(limit),
    ...(status === undefined ? {} : { status }),
    ...(eventType === undefined ? {} : { eventType }),
    ...(since === undefined ? {} : { since: moment('--since', since, systemClock.nowMs()) }),
  });
  const list = of === undefined ? '/deliveries' : `/webhooks/${encodeURIComponent(of)}/deliveries`;
  const { data } = await connect(options)<{ data: Delivery[] }>('GET', `${list}?${query}`);
  printResult(data, options, (shown) =>
    shown.length === 0 ? 'No deliveries found.' : shown.map(line).join('\n'),
  );
}

function line(delivery: Delivery): string {
  const { createdAt, id, status, attempts, eventType, eventId, webhookId, origin } = delivery;
  const why = origin === 'event' ? '' : `  (${origin})`;
  const tried = counted(attempts, 'attempt');
  return `${createdAt}  ${id}  ${status.padEnd(10)}  ${tried.padEnd(10)}  ${eventType}  ${eventId}  → ${webhookId}${why}${nextAttempt(delivery)}`;
}

function detailLines(delivery: DeliveryDetail): string {
  const last = delivery.attemptList.at(-1);
  return [
    line(delivery),
    ...delivery.attemptList.map(
      (attempt) =>
        `  attempt ${attempt.number}  ${attempt.at}  ${outcome(attempt)}${attempt.statusCode === null || attempt.error === null ? '' : `  ${attempt.error}`}`,
    ),
    ...(last === undefined ? [] : exchangeLines(last)),
    '',
    delivery.payload,
  ].join('\n');
}

/** The last attempt's headers both ways, and the answer's body. */
function exchangeLines({
  requestHeaders,
  responseHeaders,
  responseBody,
  truncated,
}: ListedAttempt): string[] {
  const headers = (of: Record<string, unknown>, mark: string): string[] =>
    Object.entries(of).map(([name, value]) => `  ${mark} ${name}: ${String(value)}`);
  const body =
    responseBody === null || responseBody === '' ? [] : [`  < ${responseBody}${truncated ? '…' : ''}`];
  return ['', ...headers(requestHeaders, '>'), ...headers(responseHeaders ?? {}, '<'), ...body];
}
