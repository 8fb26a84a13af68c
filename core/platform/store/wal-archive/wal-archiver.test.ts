// WAL archiver: nothing is checkpointed before it is archived, and a chain continues only without a gap.
import { afterEach, expect, test } from 'bun:test';
import Database from 'libsql';
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeIdentity } from '../integrity/identity.ts';
import { readLogHead } from '../log-head.ts';
import { openStore, type OpenedStore } from '../open-store.ts';
import { tenantStatement } from '../statement.ts';
import { scopeOf, tenantOp } from '../store.ts';
import {
  encodeHeader,
  lastHeader,
  readEnd,
  readHeader,
  segmentHeaderBytes,
  waitingPaths,
} from './segments.ts';
import { openWalArchiver } from './wal-archiver.ts';

const put = tenantStatement(
  'taker_test.put',
  'INSERT INTO cursors (workspace_id, consumer, sequence) VALUES (:ws, :consumer, 1)',
);
const dirs: string[] = [];
const open = (dir: string): OpenedStore => openStore(dir, () => 0, { isCopied: true });
const write = ({ store }: OpenedStore, consumer: string) =>
  store.commit([tenantOp(scopeOf('ws_a'), put, { consumer })]);
const fresh = (): string => {
  dirs.push(mkdtempSync(join(tmpdir(), 'tatami-taker-')));
  return dirs.at(-1)!;
};
const positions = (dir: string): (number | undefined)[] =>
  waitingPaths(join(dir, 'spool')).map((path) => readHeader(path)?.head?.position);

afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

test('a chain continues over restarts, and each segment states the position of the log', async () => {
  const dir = fresh();
  let opened = open(dir);
  await opened.store.take({ begin: 'chain-a' });
  await write(opened, 'a');
  await opened.store.take('next');
  await opened.store.take('next');
  await write(opened, 'b');
  await opened.close();
  expect(positions(dir)).toEqual([0, 1, 2]);
  opened = open(dir);
  await write(opened, 'c');
  await opened.close();
  expect(positions(dir).at(-1)).toBe(3);
  expect(readEnd(join(dir, 'spool'))).toBeNull();
  expect(lastHeader(join(dir, 'spool'))).toMatchObject({ chain: 'chain-a' });
});

test('a file that was written by another program ends the chain', async () => {
  const dir = fresh();
  const opened = open(dir);
  await opened.store.take({ begin: 'chain-a' });
  await write(opened, 'a');
  await opened.close();
  utimesSync(join(dir, 'tatami.db'), 1, 1);
  await open(dir).close();
  expect(readEnd(join(dir, 'spool'))).toContain('was written');
});

test('a directory that was copied during a write does not continue the chain', async () => {
  const dir = fresh();
  const opened = open(dir);
  await opened.store.take({ begin: 'chain-a' });
  await write(opened, 'a');
  await opened.store.take('next');
  const clone = fresh();
  cpSync(dir, clone, { recursive: true });
  // A start would refuse the copy; here the operator has accepted it.
  isOwn(clone);
  await open(clone).close();
  expect(readEnd(join(clone, 'spool'))).toContain('belongs to a copy');
  await opened.close();
});

// The commit was written and synced, but not acknowledged, when the server died. SQLite takes the end of the log from
// the shared-memory index, which the other process holds open.
test('a commit that SQLite skips, because another process has the file open, is not archived', async () => {
  const living = fresh();
  const dir = fresh();
  const names = ['tatami.db', 'tatami.db-sums', 'tatami.db-wal', 'log-head', 'master.key'];
  const copy = (name: string): void => copyFileSync(join(living, name), join(dir, name));
  const opened = open(living);
  await opened.store.take({ begin: 'chain-a' });
  await write(opened, 'a');
  await opened.store.take('next');
  for (const name of names) copy(name);
  moveWalArchive(living, dir);
  const other = new Database(join(dir, 'tatami.db'));
  other.prepare('SELECT 1 FROM log_head').all();
  await write(opened, 'under way');
  copy('tatami.db-wal');

  isOwn(dir);
  const second = open(dir);
  await write(second, 'after');
  await second.close();
  expect(readEnd(join(dir, 'spool'))).toBeNull();
  expect(positions(dir)).toEqual([0, 1, 1, 2]);
  other.close();
  await opened.close();
});

/** Makes the files count as created in this directory. */
function isOwn(dir: string): void {
  const identityFiles = { database: join(dir, 'tatami.db'), logHead: join(dir, 'log-head') };
  writeIdentity(join(dir, 'identity'), identityFiles, 'open', readLogHead(identityFiles.logHead));
}

/** Makes the segments count as archived from the file of directory `to`. */
function moveWalArchive(from: string, to: string): void {
  cpSync(join(from, 'spool'), join(to, 'spool'), { recursive: true });
  const inode = String(statSync(join(to, 'tatami.db')).ino);
  for (const path of waitingPaths(join(to, 'spool'))) {
    const fd = openSync(path, 'r+');
    const header = readHeader(path);
    if (header) writeSync(fd, encodeHeader({ ...header, inode }), 0, segmentHeaderBytes, 0);
    closeSync(fd);
  }
}

test.skipIf(process.platform !== 'linux')(
  'an archive directory in which nothing can be written or removed ends only the chain',
  () => {
    const dir = fresh();
    const walArchiver = openWalArchiver({
      database: join(dir, 'tatami.db'),
      walArchive: '/proc/self/fdinfo',
    });
    expect(() => walArchiver.begin('chain-a', { timeMs: 0, head: null })).not.toThrow();
    expect(() => walArchiver.end('why')).not.toThrow();
  },
);

test('a partial segment of a failed write is removed when the chain ends', async () => {
  const dir = fresh();
  const opened = open(dir);
  await opened.store.take({ begin: 'chain-a' });
  writeFileSync(join(dir, 'spool', '0000000001.segment.new'), 'half');
  await opened.store.take({ end: 'why' });
  expect(readdirSync(join(dir, 'spool')).filter((name) => name.endsWith('.new'))).toEqual([]);
  expect(readEnd(join(dir, 'spool'))).toBe('why');
  await opened.close();
});

test('a database of a newer build is rejected unchanged, including the commits in its log', async () => {
  const dir = fresh();
  await open(dir).close();
  const path = join(dir, 'tatami.db');
  const newer = new Database(path);
  for (const sql of ['PRAGMA wal_autocheckpoint = 0', 'PRAGMA user_version = 99']) newer.prepare(sql).all();
  const look = (): unknown[] => ['', '-wal', '-sums'].map((name) => Bun.hash(readFileSync(`${path}${name}`)));
  const before = look();
  expect(() => open(dir)).toThrow('has schema 99');
  expect(look()).toEqual(before);
  newer.close();
});

test('unsent segments stay until the operator disables the copy', async () => {
  const dir = fresh();
  const opened = open(dir);
  await opened.store.take({ begin: 'chain-a' });
  await write(opened, 'a');
  await opened.close();
  const offline = openStore(dir, () => 0);
  await write(offline, 'b');
  await offline.close();
  expect(positions(dir)).toEqual([0, 1]);
  await openStore(dir, () => 0, { isCopied: false }).close();
  expect(existsSync(join(dir, 'spool'))).toBe(false);
});
