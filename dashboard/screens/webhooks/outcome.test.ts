import { expect, test } from 'bun:test';
import { failingPage, originalOf, outcomeOf, prettyJson } from './outcome.ts';

type Outcome = Parameters<typeof outcomeOf>[0];
type Read = Parameters<typeof failingPage>[0];

const outcome = (status: string, ...codes: readonly (number | null)[]) =>
  outcomeOf({ status, attemptList: codes.map((statusCode) => ({ statusCode })) } as unknown as Outcome);

test('the result of a delivery is the answer of its last attempt, and says if the server retries', () => {
  expect(outcome('delivered', 200)).toBe('Answered 200.');
  expect(outcome('retrying', null)).toBe('No answer. The server retries.');
  expect(outcome('retrying', null, 500)).toBe('Answered 500. The server retries.');
  expect(outcome('failed', 410)).toBe('Answered 410.');
});

test('a delivery without an attempt has no result until it has ended', () => {
  expect(outcome('delivering')).toBeNull();
  expect(outcome('canceled')).toBe('Canceled.');
});

/** Lists deliveries by status, one on each page. The cursor is the number of read ones. */
const listOf =
  (byStatus: Readonly<Record<string, readonly string[]>>): Read =>
  ({ status, after = '0' }) => {
    const end = Number(after) + 1;
    const hasNextPage = end < byStatus[status]!.length;
    const data = byStatus[status]!.slice(end - 1, end).map((id) => ({ id }));
    return Promise.resolve({ data, pageInfo: { hasNextPage, endCursor: String(end) } } as never);
  };

async function allOf(read: Read): Promise<readonly string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  for (;;) {
    const { data, pageInfo } = await failingPage(read, after);
    ids.push(...data.map(({ id }) => id));
    if (!pageInfo.hasNextPage) return ids;
    after = pageInfo.endCursor!;
  }
}

test('failing deliveries are all that wait for a retry, then all that failed', async () => {
  expect(await allOf(listOf({ retrying: ['a', 'b'], failed: ['c', 'd', 'e'] }))).toEqual([
    'a',
    'b',
    'c',
    'd',
    'e',
  ]);
  expect(await allOf(listOf({ retrying: [], failed: ['c'] }))).toEqual(['c']);
});

test('a delivery that fails during the reading is listed once', async () => {
  expect(await allOf(listOf({ retrying: ['a'], failed: ['a'] }))).toEqual(['a']);
});

test('a replay repeats the delivery of its event to the same endpoint', () => {
  const delivery = (id: string, origin: string, webhookId: string) => ({
    id,
    eventId: 'evt_1',
    origin,
    webhookId,
  });
  const all = [
    delivery('a', 'replay', 'w'),
    delivery('b', 'event', 'v'),
    delivery('c', 'event', 'w'),
  ] as never;
  expect(originalOf(all, 'evt_1', 'w')?.id).toBe('c');
  expect(originalOf(all, 'evt_2', 'w')).toBeNull();
});

test('only JSON is indented', () => {
  expect(prettyJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(prettyJson('a=1')).toBeNull();
});
