import { expect, test } from 'bun:test';
import { installBytesMax, valueBytesMax } from '../kv/entries.ts';
import { createValues } from './values.ts';

test('a run of a trial sees its own writes, and later runs see them after its commit', async () => {
  const begin = createValues(new Map([['times', '1']]));
  const first = begin();
  expect(await first.increment('times', 2)).toBe(3);
  expect(await first.compareAndSet('times', 1, 0)).toBe(false);
  expect(await first.compareAndSet('times', 3, { last: 'first' })).toBe(true);
  await first.delete('missing');
  expect(first.listed({})).toMatchObject({
    body: JSON.stringify({
      data: [{ key: 'times', bytes: 16 }],
      pageInfo: { hasNextPage: false, endCursor: 'times' },
    }),
  });
  const second = begin();
  expect(await second.get('times')).toBe('1');
  first.commit();
  expect(second.isStale()).toBe(true);
  expect(await begin().get('times')).toBe('{"last":"first"}');
});

test('a run of a trial has the size limits of stored values, and is stale once others change its quota', async () => {
  const begin = createValues();
  const [first, second] = [begin(), begin()];
  await expect(first.set('long', 'x'.repeat(valueBytesMax))).rejects.toMatchObject({
    code: 'validation_failed',
  });
  const half = 'x'.repeat(valueBytesMax - 2);
  for (let i = 0; i < installBytesMax / valueBytesMax; i++) await first.set(`half-${i}`, half);
  await expect(first.set('more', 1)).rejects.toMatchObject({ code: 'quota_exceeded' });
  expect(first.isStale()).toBe(false);
  await second.set('other', 1);
  second.commit();
  expect(first.isStale()).toBe(true);
});
