// `tatami webhooks deliveries [WHE|DLV]`: lists deliveries or shows one with its attempts. Also waits for the first attempt of a delivery.
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { moment, usage, wholeNumber } from '../lib/flags.ts';
import { printResult, CommandError, exitCodes, say } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import type { Call } from '../../../../sdk/client/index.ts';
import { printableCopy } from '../../../platform/lib/text/printable.ts';
import { poll } from '../lib/poll.ts';

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
    shown.length === 0 ? 'No deliveries found.' : shown.map(deliveryLine).join('\n'),
  );
}

function deliveryLine(delivery: Delivery): string {
  const { createdAt, id, status, attempts, eventType, eventId, webhookId, origin } = delivery;
  const why = origin === 'event' ? '' : `  (${origin})`;
  const tried = counted(attempts, 'attempt');
  return `${createdAt}  ${id}  ${status.padEnd(10)}  ${tried.padEnd(10)}  ${eventType}  ${eventId}  → ${webhookId}${why}${nextAttempt(delivery)}`;
}

function detailLines(delivery: DeliveryDetail): string {
  const last = delivery.attemptList.at(-1);
  return [
    deliveryLine(delivery),
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

/** Connecting, the answer and a queue before it: past that, something holds the delivery back. */
const attemptWithinMs = 60_000;

interface Delivery {
  id: string;
  webhookId: string;
  eventId: string;
  eventType: string;
  origin: 'event' | 'replay' | 'ping' | 'sample';
  status: 'pending' | 'delivering' | 'retrying' | 'delivered' | 'failed' | 'canceled';
  attempts: number;
  createdAt: string;
  nextAttemptAt: string | null;
}

interface AttemptOutcome {
  statusCode: number | null;
  latencyMs: number;
  error: string | null;
}

interface ListedAttempt extends AttemptOutcome {
  number: number;
  at: string;
  requestHeaders: Record<string, unknown>;
  responseHeaders: Record<string, unknown> | null;
  responseBody: string | null;
  truncated: boolean;
}

interface DeliveryDetail extends Delivery {
  payload: string;
  attemptList: ListedAttempt[];
}

export const getDelivery = (call: Call, id: string): Promise<DeliveryDetail> =>
  call('GET', `/deliveries/${encodeURIComponent(id)}`);

/** `→ 500  12 ms`, or in words why there was no answer. */
export function outcome({ statusCode, latencyMs, error }: AttemptOutcome): string {
  return statusCode === null ? `→ ${error ?? 'no answer'}` : `→ ${statusCode}  ${Math.round(latencyMs)} ms`;
}

/** Returns the time of the next attempt, for a delivery that the server retries. */
function nextAttempt({ status, nextAttemptAt }: Delivery): string {
  return status === 'retrying' && nextAttemptAt !== null ? `  next attempt at ${nextAttemptAt}` : '';
}

/**
 * Has a delivery made, waits for its first attempt and prints how that went. Exit 1 where it failed, though the server will
 * try again: that this attempt failed is the answer.
 */
export async function deliverAndPrint(
  options: RemoteOptions,
  path: string,
  body: unknown,
  title: (made: Delivery) => string,
): Promise<void> {
  const call = connect(options);
  const made = await call<Delivery>('POST', path, body);
  const seen = await poll<DeliveryDetail | null>(
    null,
    () => getDelivery(call, made.id),
    (delivery) => delivery !== null && (delivery.attemptList.length > 0 || delivery.status === 'canceled'),
    attemptWithinMs,
  );
  const [first] = seen?.attemptList ?? [];
  if (seen === null || (first === undefined && seen.status !== 'canceled'))
    throw new CommandError(
      `${made.id} has not been attempted yet, because its endpoint is busy or failing. See \`tatami webhooks deliveries ${made.id}\`.`,
      exitCodes.tryLater,
    );
  printResult(seen, options, (shown) => {
    const [attempt] = shown.attemptList;
    return `${title(shown)} ${attempt === undefined ? '→ canceled' : outcome(attempt)}`;
  });
  if (seen.status === 'retrying')
    say(`The attempt failed; the server retries automatically.${nextAttempt(printableCopy(seen))}`);
  if (seen.status !== 'delivered') process.exitCode = exitCodes.failed;
}
