// What a start that was cut short leaves behind: either the file is whole or it is not there.
import { afterEach, expect, test } from 'bun:test';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from './open-store.ts';

const dirs: string[] = [];
const fresh = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-dir-'));
  dirs.push(dir);
  return dir;
};
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

test('files half made by a start that was killed do not bar the next one', async () => {
  const dir = fresh();
  for (const name of ['master.key.new', 'log-head.new', 'lock']) writeFileSync(join(dir, name), 'half');
  const opened = openStore(dir, Date.now);
  await opened.close();
  expect(readFileSync(join(dir, 'master.key'), 'utf8')).toHaveLength(45);
  expect(readFileSync(join(dir, 'log-head'))).toHaveLength(1024);
  expect(readdirSync(dir).filter((name) => name.endsWith('.new'))).toEqual([]);
});

test('a log head or master key that was cut short is refused, never made anew over a database', async () => {
  const dir = fresh();
  await openStore(dir, Date.now).close();
  const head = readFileSync(join(dir, 'log-head'));
  for (const bytes of [0, 1, 60]) {
    writeFileSync(join(dir, 'log-head'), head);
    truncateSync(join(dir, 'log-head'), bytes);
    expect(() => openStore(dir, Date.now)).toThrow('damaged in both slots');
  }
  writeFileSync(join(dir, 'log-head'), head);
  truncateSync(join(dir, 'master.key'), 20);
  expect(() => openStore(dir, Date.now)).toThrow('must hold 32 bytes');
  rmSync(join(dir, 'master.key'));
  expect(() => openStore(dir, Date.now)).toThrow('put the key back');
  expect(existsSync(join(dir, 'master.key'))).toBe(false);
});

test('a refused start lets go of the directory', async () => {
  const dir = fresh();
  await openStore(dir, Date.now).close();
  const key = readFileSync(join(dir, 'master.key'));
  writeFileSync(join(dir, 'master.key'), 'no key');
  expect(() => openStore(dir, Date.now)).toThrow('must hold 32 bytes');
  writeFileSync(join(dir, 'master.key'), key);
  await openStore(dir, Date.now).close();
});
