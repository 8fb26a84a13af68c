// Finished attempts share a commit with those about to finish, and never wait for a hanging receiver.
import { expect, test } from 'bun:test';
import { createCommitBatch } from './deliverer.ts';

test('more attempts are expected while a recent attempt is open, independently of older ones', () => {
  let now = 0;
  const commitBatch = createCommitBatch(() => now);
  expect(commitBatch.isExpected()).toBe(false);
  const leaveHanging = commitBatch.join();
  expect(commitBatch.isExpected()).toBe(true);
  now = 21;
  expect(commitBatch.isExpected()).toBe(false);
  const leaveFirst = commitBatch.join();
  const leaveSecond = commitBatch.join();
  leaveFirst();
  expect(commitBatch.isExpected()).toBe(true);
  leaveSecond();
  expect(commitBatch.isExpected()).toBe(false);
  leaveHanging();
  expect(commitBatch.isExpected()).toBe(false);
});
