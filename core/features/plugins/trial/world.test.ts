import { expect, test } from 'bun:test';
import type { SandboxOutcome } from '../../../platform/sandbox/supervisor.ts';
import { uninterrupted } from './world.ts';

test('an interrupted attempt is repeated twice, and not after an abort', async () => {
  const controller = new AbortController();
  const attempts = async (interruptions: number): Promise<[number, string]> => {
    let made = 0;
    const { outcome } = await uninterrupted(controller.signal, () => {
      const status = made++ < interruptions ? 'interrupted' : 'succeeded';
      return Promise.resolve({ outcome: { status } as SandboxOutcome });
    });
    return [made, outcome.status];
  };
  expect(await attempts(0)).toEqual([1, 'succeeded']);
  expect(await attempts(2)).toEqual([3, 'succeeded']);
  expect(await attempts(9)).toEqual([3, 'interrupted']);
  controller.abort();
  expect(await attempts(2)).toEqual([1, 'interrupted']);
});
