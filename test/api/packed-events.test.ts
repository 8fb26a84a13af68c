// An event is restored exactly, whether it is stored packed, plain, with another event, or in the format of earlier
// versions.
import { expect, test } from 'bun:test';
import Database from 'libsql';
import { join } from 'node:path';
import { startApp } from '../app.ts';
import { causeOf, causeText, pack, unpack } from '../../core/kernel/events/log/packing.ts';

test.each(['', 'short', 'Ünï 🎌 "quoted"\n\\'.repeat(50), 'x'.repeat(2_000_000)])(
  'a packed text is restored',
  (text) => {
    const parts = { cause: '', data: JSON.stringify({ text, lone: '\ud800' }) };
    expect(unpack(pack(parts))).toEqual(parts);
  },
);

test('the root is stored only if it differs from the event', () => {
  const own = { rootEventId: 'evt_1', parentRunId: null, depth: 0, path: [] };
  expect([causeText(own, 'evt_1'), JSON.stringify(causeOf('', 'evt_1'))]).toEqual(['', JSON.stringify(own)]);
  for (const cause of [
    { ...own, depth: 1 },
    { ...own, parentRunId: 'run_1' },
    { ...own, rootEventId: 'evt_2' },
  ])
    expect(causeOf(causeText(cause, 'evt_1'), 'evt_1')).toEqual(cause);
});

test('a truncated packed part is reported and never returned', () => {
  const { packed } = pack({ cause: '', data: JSON.stringify('x'.repeat(1_000)) });
  const stored = { cause_json: '', data_json: '' };
  expect(() => unpack({ ...stored, packed: Bun.zstdCompressSync('no end of the cause') })).toThrow(
    'are incomplete',
  );
  expect(() => unpack({ ...stored, packed: packed!.slice(0, -5) })).toThrow();
});

test('readers get the same events packed and plain, and events of one change share a row', async () => {
  const app = await startApp();
  const { id } = (
    await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x', description: 'long '.repeat(200) })
  ).json;
  await app.call('POST', '/api/v1/labels', { name: 'one' });
  await app.call('PATCH', `/api/v1/issues/${id}`, { labels: ['one'], priority: 'high' });
  const huge = 'y'.repeat(3_000) + Array.from({ length: 3_000 }, (_, n) => n * 7919).join(' ');
  await app.call('PATCH', `/api/v1/issues/${id}`, { description: huge, priority: 'low' });
  const paths = [
    '/api/v1/events?limit=100',
    `/api/v1/issues/${id}/history?limit=100`,
    '/api/v1/audit-log?limit=100',
  ];
  const readTexts = async (): Promise<string[]> =>
    Promise.all(paths.map(async (path) => (await app.call('GET', path)).text));
  const packed = await readTexts();
  const { data: events } = JSON.parse(packed[0]!);
  const one = async (): Promise<unknown[]> =>
    Promise.all(
      events.map(async (event: { id: string }) => (await app.call('GET', `/api/v1/events/${event.id}`)).json),
    );
  expect(await one()).toEqual(events);

  const db = new Database(join(app.dataDir, 'tatami.db'));
  // The server may commit background work meanwhile.
  db.exec('PRAGMA busy_timeout = 10000');
  const rows = db.prepare('SELECT sequence, data_json, packed FROM events ORDER BY sequence').all() as {
    sequence: number;
    data_json: string;
    packed: ArrayBuffer | null;
  }[];
  const shared = rows.filter((row) => row.data_json.startsWith('='));
  expect(shared.length).toBeGreaterThanOrEqual(1);
  expect(rows.some((row) => row.packed && row.packed.byteLength > 4096)).toBe(true);
  // The format of short events.
  for (const [index, row] of rows.entries()) {
    const distance = row.data_json.startsWith('=') ? Number(row.data_json.slice(1)) : 0;
    const holder = rows[index - distance]!;
    if (!holder.packed) continue;
    const { cause, data } = unpack({ cause_json: '', data_json: '', packed: holder.packed });
    const whole = cause === '' ? JSON.stringify(causeOf('', events[index].id)) : cause;
    db.prepare('UPDATE events SET cause_json = ?1, data_json = ?2, packed = NULL WHERE sequence = ?3').run([
      whole,
      data,
      BigInt(row.sequence),
    ]);
  }
  db.close();
  await app.call('POST', '/api/v1/labels', { name: 'two' });
  const plain = (await app.call('GET', `/api/v1/events?limit=${events.length}`)).json.data;
  expect(plain).toEqual(events);
  expect(await one()).toEqual(events);
  expect((await app.call('GET', paths[1]!)).text).toBe(packed[1]!);
  await app.stop();
});
