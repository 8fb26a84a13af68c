// Results of deliveries: the answer to a ping, and the deliveries without success.
import type { Client, Delivery, DeliveryDetail, Page } from '@tatami/sdk/client';
import { text } from '../../text/developers.ts';

type Outcome = Pick<DeliveryDetail, 'status' | 'attemptList'>;

/** Returns the result of the last attempt as a sentence; null before the first one. */
export function outcomeOf({ status, attemptList }: Outcome): string | null {
  const last = attemptList.at(-1);
  if (!last) return status === 'failed' || status === 'canceled' ? `${text.deliveryStatus[status]}.` : null;
  const answer = last.statusCode === null ? text.noAnswer : text.answered(last.statusCode);
  return text.outcome(answer, status === 'retrying');
}

const pollMs = 500;
/** An attempt ends sooner. */
const pollsMax = 70;

/** Waits for the first attempt of a delivery. */
export async function firstOutcome(client: Client, id: string): Promise<string> {
  for (let polls = 0; polls < pollsMax; polls++) {
    const outcome = outcomeOf(await client.deliveries.get(id));
    if (outcome !== null) return outcome;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return text.sent;
}

/** Value of the status filter for deliveries that wait for a retry or have failed. */
export const failing = 'failing';

type FailingStatus = 'retrying' | 'failed';
type ReadPage = (query: {
  readonly status: FailingStatus;
  readonly after?: string;
}) => PromiseLike<Page<Delivery>>;

/**
 * Returns a page of the deliveries that wait for a retry and then of those that failed, because the API lists one
 * status at a time. The cursor begins with the status.
 */
export async function failingPage(read: ReadPage, after?: string): Promise<Page<Delivery>> {
  const [status, cursor] = after === undefined ? ['retrying'] : after.split(/:(.*)/s);
  const isLast = status === 'failed';
  const page = await pageOf(read, isLast ? 'failed' : 'retrying', cursor);
  if (isLast || page.pageInfo.hasNextPage) return page;
  const failed = await pageOf(read, 'failed');
  // A delivery may fail between the two requests.
  const isNew = ({ id }: Delivery): boolean => failed.data.every((other) => other.id !== id);
  return { ...failed, data: [...page.data.filter(isNew), ...failed.data] };
}

async function pageOf(read: ReadPage, status: FailingStatus, after?: string): Promise<Page<Delivery>> {
  const page = await read({ status, ...(after !== undefined && { after }) });
  const { endCursor } = page.pageInfo;
  return {
    ...page,
    pageInfo: { ...page.pageInfo, endCursor: endCursor === null ? null : `${status}:${endCursor}` },
  };
}

/** Returns the first delivery of an event to an endpoint, which replays repeat; null if it is not in the list. */
export const originalOf = (all: readonly Delivery[], eventId: string, webhookId: string): Delivery | null =>
  all.find((one) => one.eventId === eventId && one.webhookId === webhookId && one.origin !== 'replay') ??
  null;

/** Returns JSON with line breaks and indentation; null for other text. */
export function prettyJson(payload: string): string | null {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return null;
  }
}
