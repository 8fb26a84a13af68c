// Archive files reach the destination before the segment that references them, and an unreadable file blocks nothing else.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addPage, encodeHeader, segmentPath } from '../../../store/wal-archive/segments.ts';
import type { Destination } from './destination.ts';
import { createFilesSender } from '../files.ts';
import { createOutbox } from './outbox.ts';

const installation = '0'.repeat(32);
let dir = '';
const walArchive = (): string => join(dir, 'spool');
const archive = (): string => join(dir, 'archive');

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tatami-outbox-'));
  for (const folder of [walArchive(), archive(), join(archive(), 'ws_1')]) mkdirSync(folder);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function writeSegment(index: number): void {
  const page = Buffer.alloc(4 + 512);
  const header = {
    chain: '20261122T000000Z-0-00000000',
    index,
    first: 0,
    timeMs: 1,
    head: null,
    pageBytes: 512,
    dbPages: 1,
    pages: 1,
    sum: addPage(0n, page).toString(16),
    place: null,
    inode: '1',
  };
  writeFileSync(segmentPath(walArchive(), index), Buffer.concat([encodeHeader(header), page]));
}

/** Records the object names in order of arrival. */
function createDestination(onList: () => void = () => undefined): Destination & { names: string[] } {
  const names: string[] = [];
  return {
    title: 'memory',
    folder: null,
    names,
    put: async (name) => void names.push(name),
    get: async () => new Uint8Array(),
    list: async () => (onList(), []),
    delete: async () => undefined,
  };
}

test('a segment that arrives while archive files are sent waits for the next round, after its own archive file', async () => {
  writeSegment(0);
  writeFileSync(join(archive(), 'ws_1/1-500.jsonl.zst'), 'first');
  const destination = createDestination(() => {
    writeFileSync(join(archive(), 'ws_1/501-900.jsonl.zst'), 'second');
    writeSegment(1);
  });
  const files = createFilesSender({
    destination,
    folder: archive(),
    installation,
    onUnreadable: () => undefined,
  });
  const outbox = createOutbox({ destination, walArchive: walArchive(), installation, files });
  const sentNames = (): string[] =>
    destination.names.map((name) => /archive\/ws_1\/\d+-\d+|segments\/\d+/.exec(name)?.[0] ?? name);
  await outbox.send();
  expect(sentNames()).toEqual(['archive/ws_1/1-500', 'segments/0000000000']);
  await outbox.send();
  expect(sentNames().slice(2)).toEqual(['archive/ws_1/501-900', 'segments/0000000001']);
});

test('an unreadable file is reported, and all other files are sent', async () => {
  writeSegment(0);
  const path = join(archive(), 'ws_1/1-500.jsonl.zst');
  writeFileSync(path, 'first');
  writeFileSync(join(archive(), 'ws_1/501-900.jsonl.zst'), 'second');
  const destination = createDestination(() => rmSync(path));
  const reported: string[] = [];
  const files = createFilesSender({
    destination,
    folder: archive(),
    installation,
    onUnreadable: (name) => void reported.push(name),
  });
  const outbox = createOutbox({ destination, walArchive: walArchive(), installation, files });
  await outbox.send();
  expect(destination.names.map((name) => name.split('/').at(-2))).toEqual(['ws_1', 'segments']);
  expect(reported).toEqual(['ws_1/1-500.jsonl.zst']);
  expect(files.fault()).toContain('ws_1/1-500.jsonl.zst');
  writeFileSync(path, 'first');
  await outbox.send();
  expect(destination.names.at(-1)).toContain('ws_1/1-500');
  expect(files.fault()).toBeNull();
});
