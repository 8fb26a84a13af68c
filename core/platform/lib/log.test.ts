import { expect, test } from 'bun:test';
import { createLog } from './log.ts';

test('a repeated error is logged three times, and then counted with the affected requests', () => {
  const lines: { msg: string; error?: string; repeated?: number; requestIds?: string[] }[] = [];
  const timers: (() => void)[] = [];
  const log = createLog({
    write: (line) => void lines.push(JSON.parse(line)),
    nowMs: () => 0,
    after: (_, run) => void timers.push(run),
    pretty: false,
    level: 'info',
  });
  const refused = (index: number): void =>
    log('warn', 'store refused', {
      requestId: `req_${index}`,
      error: `StoreError: full\n    at line ${index}`,
    });
  for (let index = 0; index < 1_000; index++) refused(index);
  expect(lines).toHaveLength(3);

  // Other errors, and entries without an error, are written at once.
  log('warn', 'store refused', { error: 'StoreError: EIO' });
  for (let index = 0; index < 10; index++) log('warn', 'webhook disabled', { endpointId: index });
  expect(lines).toHaveLength(14);

  for (const run of timers.splice(0)) run();
  expect(lines).toHaveLength(15);
  expect(lines.at(-1)).toMatchObject({ msg: 'store refused', error: 'StoreError: full', repeated: 997 });
  expect(lines.at(-1)!.requestIds).toHaveLength(50);
  expect(lines.at(-1)!.requestIds?.[0]).toBe('req_3');

  refused(0);
  expect(lines).toHaveLength(16);
});
