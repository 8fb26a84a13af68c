// A delivery, as the commands show it to people, and the wait for what its first attempt brought.
import type { Call } from '../../../../sdk/client/index.ts';
import { printableCopy } from '../../../platform/lib/text/printable.ts';
import { CommandError, exitCodes, printResult, say } from '../lib/output.ts';
import { poll } from '../lib/poll.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';

/** Connecting, the answer and a queue before it: past that, something holds the delivery back. */
const attemptWithinMs = 60_000;

export interface Delivery {
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

export interface ListedAttempt {
  number: number;
  at: string;
  latencyMs: number;
  statusCode: number | null;
  error: string | null;
  requestHeaders: Record<string, unknown>;
  responseHeaders: Record<string, unknown> | null;
  responseBody: string | null;
  truncated: boolean;
}

export interface DeliveryDetail extends Delivery {
  payload: string;
  attemptList: ListedAttempt[];
}

export const getDelivery = (call: Call, id: string): Promise<DeliveryDetail> =>
  call('GET', `/deliveries/${encodeURIComponent(id)}`);

/** `→ 500  12 ms`, or in words why there was no answer. */
export function outcome({
  statusCode,
  latencyMs,
  error,
}: Omit<ListedAttempt, 'number' | 'at'> | LocalAttempt): string {
  return statusCode === null ? `→ ${error ?? 'no answer'}` : `→ ${statusCode}  ${Math.round(latencyMs)} ms`;
}

export interface LocalAttempt {
  statusCode: number | null;
  latencyMs: number;
  error: string | null;
}

/** What the server tries again by itself, and when. */
export function nextAttempt({ status, nextAttemptAt }: Delivery): string {
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
