// Displays deliveries with their attempts.
import type { Call } from '../../../../../sdk/client/index.ts';
import { counted } from '../../../../platform/lib/text/words.ts';

function deliveryLine(delivery: Delivery): string {
  const { createdAt, id, status, attempts, eventType, eventId, webhookId, origin } = delivery;
  const why = origin === 'event' ? '' : `  (${origin})`;
  const tried = counted(attempts, 'attempt');
  return `${createdAt}  ${id}  ${status.padEnd(10)}  ${tried.padEnd(10)}  ${eventType}  ${eventId}  → ${webhookId}${why}${nextAttempt(delivery)}`;
}

export function deliveryView(delivery: DeliveryDetail): string {
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
