// Finished attempts share a commit with those about to finish, and never wait for a hanging receiver.
import { expect, test } from 'bun:test';
import { createCompany } from './company.ts';

test('more attempts are expected while a recent attempt is open, independently of older ones', () => {
  let now = 0;
  const company = createCompany(() => now);
  expect(company.isExpected()).toBe(false);
  const leaveHanging = company.join();
  expect(company.isExpected()).toBe(true);
  now = 21;
  expect(company.isExpected()).toBe(false);
  const leaveFirst = company.join();
  const leaveSecond = company.join();
  leaveFirst();
  expect(company.isExpected()).toBe(true);
  leaveSecond();
  expect(company.isExpected()).toBe(false);
  leaveHanging();
  expect(company.isExpected()).toBe(false);
});
