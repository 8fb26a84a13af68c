// Verifying a copy includes the event archive files.
import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import type { Destination } from './destination/destination.ts';
import { verifyCopy } from './inspect.ts';

test('an archive file whose content does not match the checksum in its name is damaged', async () => {
  const sum = createHash('sha256').update('what old events say').digest('hex').slice(0, 16);
  const good = `${'0'.repeat(32)}/archive/ws_1/1-500-${sum}.jsonl.zst`;
  const bad = `${'0'.repeat(32)}/archive/ws_1/501-900-${sum}.jsonl.zst`;
  const content = new Map([
    [good, 'what old events say'],
    [bad, 'what old events sai'],
  ]);
  const source: Destination = {
    title: 'memory',
    folder: null,
    put: async () => undefined,
    get: async (name) => new TextEncoder().encode(content.get(name)),
    list: async () => [...content.keys()],
    delete: async () => undefined,
  };
  const seen: number[][] = [];
  const { damaged } = await verifyCopy(source, (...progress) => void seen.push(progress));
  expect(damaged).toEqual([{ name: bad, reason: 'the checksum is wrong' }]);
  expect(seen).toEqual([
    [0, 2],
    [1, 2],
  ]);
});
