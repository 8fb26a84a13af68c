import { expect, test } from 'bun:test';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { createOutflow } from './outflow.ts';

const text = 'x'.repeat(1024 * 1024);
const billingAccount = { workspaceId: 'ws', billingAccount: 'key_1' };
const holdOpen = () => ({ letGo: () => undefined, hangUp: () => undefined });

/** Timers never fire. */
const clock: Clock = { nowMs: () => 0, monotonicMs: () => 0, after: () => () => undefined };

test('unread responses are limited, and free their capacity when they are abandoned', async () => {
  const outflow = createOutflow(clock);
  const hold = (): (string | ReadableStream<Uint8Array>)[] => {
    const bodies: (string | ReadableStream<Uint8Array>)[] = [];
    for (let n = 0; n < 200; n++)
      try {
        bodies.push(outflow.bodyOf(billingAccount, text, holdOpen));
      } catch {
        break;
      }
    return bodies;
  };
  const [first, ...others] = hold();
  // One caller may use a quarter of 160 MB.
  expect(1 + others.length).toBe(40);
  expect(() => outflow.requireCapacity(billingAccount)).toThrow('Too many responses');
  expect(() => outflow.requireCapacity({ workspaceId: 'other', billingAccount: null })).not.toThrow();

  if (!(first instanceof ReadableStream)) throw new Error('A large answer is pulled.');
  await first.cancel();
  expect(hold()).toHaveLength(1);
  outflow.stop();
  expect(hold()).toHaveLength(40);
});

test('a small response is sent unchanged', () => {
  expect(createOutflow(clock).bodyOf(billingAccount, 'small', holdOpen)).toBe('small');
});
