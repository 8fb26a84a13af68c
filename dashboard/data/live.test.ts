import { expect, test } from 'bun:test';
import { QueryObserver } from '@tanstack/react-query';
import type { TatamiEvent } from '@tatami/sdk/client';
import { LiveCache, type Follows } from './live.ts';
import { LiveQueryClient } from './queries.ts';

/** A cache whose time the test moves, and which counts the reads of its queries. */
function openCache() {
  const client = new LiveQueryClient({ defaultOptions: { queries: { staleTime: Infinity, retry: false } } });
  const time = { now: 0 };
  const due: { readonly at: number; readonly run: () => void }[] = [];
  const live = new LiveCache(client, {
    now: () => time.now,
    after: (ms, run) => void due.push({ at: time.now + ms, run }),
  });
  const reads: string[] = [];
  return {
    client,
    live,
    reads,
    /** Shows a query, which is not read before an event. */
    show(queryKey: readonly unknown[], data: unknown, meta: Follows = {}): void {
      client.setQueryData(queryKey, data);
      const queryFn = (): unknown => {
        reads.push(queryKey.join(' '));
        return data;
      };
      new QueryObserver(client, { queryKey, queryFn, meta: { ...meta } }).subscribe(() => undefined);
    },
    pass(ms: number): void {
      time.now += ms;
      for (const one of due.splice(0)) {
        if (one.at <= time.now) one.run();
        else due.push(one);
      }
    },
  };
}

const eventOf = (type: string, data: object): TatamiEvent => ({ type, data }) as unknown as TatamiEvent;
const reaction = (issue: string, commentId: string | null): TatamiEvent =>
  eventOf('reaction.added', { id: 'rct_1', issue: { id: issue }, commentId });
const comment = (id: string, issue: string): TatamiEvent =>
  eventOf('comment.added', { id, issue: { id: issue }, version: 1 });

function showIssue({ show }: ReturnType<typeof openCache>): void {
  show(['comments', 'iss_open'], [], { follows: ['iss_open'] });
  show(['comments', 'iss_open', 'history', 'cmt_1'], [], { follows: ['cmt_1'] });
  show(['reactions', 'iss_open', 'newest'], [], { follows: ['cmt_2', 'cmt_1'] });
  show(['reactions', 'iss_open', 'earlier'], [], { follows: ['cmt_0'] });
}

test('comments and reactions elsewhere cause no read of an open issue', () => {
  const cache = openCache();
  showIssue(cache);
  for (let n = 0; n < 8; n++) {
    cache.live.apply(reaction('iss_other', `cmt_other${n}`));
    cache.live.apply(comment(`cmt_new${n}`, 'iss_other'));
    cache.pass(2_000);
  }
  expect(cache.reads).toEqual([]);
  cache.client.clear();
});

test('a reaction causes one read of the comments in its request, and a comment one of its issue', () => {
  const cache = openCache();
  showIssue(cache);
  cache.live.apply(reaction('iss_open', 'cmt_1'));
  cache.live.apply(reaction('iss_open', null));
  cache.pass(2_000);
  expect(cache.reads).toEqual(['reactions iss_open newest']);
  cache.live.apply(comment('cmt_3', 'iss_open'));
  cache.pass(2_000);
  expect(cache.reads.slice(1)).toEqual(['comments iss_open']);
  cache.live.apply(eventOf('comment.updated', { id: 'cmt_1', issue: { id: 'iss_open' }, version: 2 }));
  cache.pass(2_000);
  expect(cache.reads.slice(2)).toEqual(['comments iss_open', 'comments iss_open history cmt_1']);
  cache.client.clear();
});

test('an event without its object causes a read of everything in its namespace', () => {
  const cache = openCache();
  showIssue(cache);
  cache.live.apply(comment('cmt_3', 'iss_other'));
  cache.live.apply(eventOf('comment.updated', { id: 'cmt_9', truncated: true, event: '/events/evt_1' }));
  cache.live.apply(comment('cmt_4', 'iss_other'));
  cache.pass(2_000);
  expect(cache.reads).toEqual(['comments iss_open', 'comments iss_open history cmt_1']);
  cache.client.clear();
});

test('a burst causes one read, and constant changes at most one per second, without losing the last', () => {
  const cache = openCache();
  showIssue(cache);
  for (let n = 0; n < 50; n++) cache.live.apply(reaction('iss_open', 'cmt_1'));
  expect(cache.reads).toEqual([]);
  cache.pass(80);
  expect(cache.reads).toHaveLength(1);
  for (let n = 0; n < 100; n++) {
    cache.live.apply(reaction('iss_open', 'cmt_1'));
    cache.pass(100);
  }
  expect(cache.reads.length).toBeLessThanOrEqual(11);
  const before = cache.reads.length;
  cache.live.apply(reaction('iss_open', 'cmt_1'));
  cache.pass(1_000);
  expect(cache.reads).toHaveLength(before + 1);
  cache.pass(5_000);
  expect(cache.reads).toHaveLength(before + 1);
  cache.client.clear();
});

test('queries without a list of objects follow every event of their namespace, except those that apply events', () => {
  const cache = openCache();
  cache.show(['issues', 'one', 'ENG-1'], { id: 'iss_open', version: 1, title: 'Before' });
  cache.show(['issues', 'trail', 'iss_open'], [], { follows: ['iss_open'] });
  cache.show(['issues', 'list'], [], { followsEvents: true });
  cache.live.apply(eventOf('issue.updated', { id: 'iss_other', version: 2 }));
  cache.pass(2_000);
  expect(cache.reads).toEqual(['issues one ENG-1']);
  cache.live.apply(eventOf('issue.updated', { id: 'iss_open', version: 2, title: 'After' }));
  expect(cache.client.getQueryData<object>(['issues', 'one', 'ENG-1'])).toMatchObject({ title: 'After' });
  cache.pass(2_000);
  expect(cache.reads.slice(1)).toEqual(['issues one ENG-1', 'issues trail iss_open']);
  cache.client.clear();
});
