// The cache directory contains executed files, so it is trusted only if no other user can have written to it.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCache, type Packed } from './cache.ts';

let outside: string;
let dir: string;
let packed: Packed;
const content = Buffer.from('#!/bin/sh\nexit 0\n'.repeat(1000));
beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), 'tatami-cache-'));
  dir = join(outside, 'a/cache');
  const file = join(outside, 'packed');
  writeFileSync(file, Bun.zstdCompressSync(content));
  const sha256 = createHash('sha256').update(content).digest('hex');
  packed = { name: 'thing', file, bytes: content.length, sha256, isProgram: true };
});
afterEach(() => rmSync(outside, { recursive: true, force: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;
const isRoot = process.geteuid?.() === 0;

test('an unpacked file is complete, executable and read-only', () => {
  const path = openCache(dir).unpack(packed);
  expect(readFileSync(path).equals(content)).toBe(true);
  expect([modeOf(dir), modeOf(path)]).toEqual(isRoot ? [0o755, 0o555] : [0o700, 0o500]);
  const addon = openCache(dir).unpack({ ...packed, name: 'addon', isProgram: false });
  expect(modeOf(addon)).toBe(isRoot ? 0o444 : 0o400);
});

test('a file is unpacked once', () => {
  const path = openCache(dir).unpack(packed);
  rmSync(packed.file);
  expect(openCache(dir).unpack(packed)).toBe(path);
});

describe('a file is replaced', () => {
  const changes: [name: string, change: (path: string) => void][] = [
    ['that is truncated', (path) => (chmodSync(path, 0o700), writeFileSync(path, content.subarray(1)))],
    ['that is writable by others', (path) => chmodSync(path, 0o522)],
    ['that is a link', (path) => (rmSync(path), symlinkSync('/bin/true', path))],
  ];
  for (const [name, change] of changes)
    test(name, () => {
      const path = openCache(dir).unpack(packed);
      change(path);
      openCache(dir).unpack(packed);
      expect([readFileSync(path).equals(content), modeOf(path) & 0o022]).toEqual([true, 0]);
      expect(readdirSync(dir)).toHaveLength(1);
    });

  test.skipIf(!isRoot)('that belongs to another user (needs root)', () => {
    const path = openCache(dir).unpack(packed);
    chownSync(path, 4711, 4711);
    openCache(dir).unpack(packed);
    expect(statSync(path).uid).toBe(0);
  });
});

describe('a directory is rejected', () => {
  test('that is writable by others', () => {
    mkdirSync(dir, { recursive: true });
    chmodSync(dir, 0o770);
    expect(() => openCache(dir)).toThrow(/may be written by others.*TATAMI_CACHE_DIR/);
  });
  test('that is a link', () => {
    mkdirSync(join(outside, 'elsewhere'));
    mkdirSync(join(outside, 'a'));
    symlinkSync(join(outside, 'elsewhere'), dir);
    expect(() => openCache(dir)).toThrow('is not a directory');
  });
  test.skipIf(!isRoot)('that belongs to another user (needs root)', () => {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    chownSync(dir, 4711, 4711);
    expect(() => openCache(dir)).toThrow('belongs to another user');
  });
});

test('a file that differs from its build is not written', () => {
  const sha256 = createHash('sha256').update('another').digest('hex');
  expect(() => openCache(dir).unpack({ ...packed, sha256 })).toThrow('is damaged: thing');
  expect(readdirSync(dir)).toEqual([]);
});

test('a file that fails its check is removed', () => {
  const prove = (): void => {
    throw new Error('It will not do.');
  };
  expect(() => openCache(dir).unpack(packed, prove)).toThrow('It will not do.');
  expect(readdirSync(dir)).toEqual([]);
});

test('files left by a killed process are removed by the next unpacking, and files being written are not', () => {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const [old, young] = [join(dir, 'thing.1.tmp'), join(dir, 'thing.2.tmp')];
  for (const path of [old, young]) writeFileSync(path, '');
  const { mtimeMs } = statSync(young);
  utimesSync(old, mtimeMs / 1000 - 7200, mtimeMs / 1000 - 7200);
  openCache(dir).unpack(packed);
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
});
