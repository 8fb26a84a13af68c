import { expect, test } from 'bun:test';
import { createLedger } from './ledger.ts';

test('the ledger stores a bounded number of accounts, and evicts those without cost for the longest time', () => {
  const ledger = createLedger(() => 0);
  const accountOf = (n: number) => ({ workspaceId: 'ws', billingAccount: `key_${n}` });
  for (let n = 0; n < 50_000; n++) {
    ledger.charge(accountOf(n), 'requests', 1);
    ledger.charge(accountOf(0), 'requests', 1);
  }
  const usage = ledger.usageOf('ws');
  expect(usage.size).toBe(20_000);
  expect(usage.get('key_0')?.requests).toBe(50_001);
  expect(usage.has('key_1')).toBe(false);
  expect(usage.get('key_49999')?.requests).toBe(1);
});
