// Build steps that the executable itself does not show.
import { expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withoutSymbols } from '../../build/elf.ts';
import { targets } from '../../build/targets.ts';
import { findNode } from '../../core/platform/sandbox/locate.ts';
import { root } from '../imports.ts';

test('a program runs without its symbols, and is smaller', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-elf-'));
  const whole = readFileSync(findNode());
  const stripped = withoutSymbols(whole);
  writeFileSync(join(dir, 'node'), stripped);
  chmodSync(join(dir, 'node'), 0o700);
  const { stdout } = Bun.spawnSync([join(dir, 'node'), '-p', '[1,2].map(String).join()']);
  rmSync(dir, { recursive: true });
  expect(stdout.toString()).toBe('1,2\n');
  expect(stripped.length).toBeLessThan(whole.length * 0.9);
});

test('a file that is no program is rejected', () => {
  expect(() => withoutSymbols(new TextEncoder().encode('#!/bin/sh'.repeat(100)))).toThrow('not a 64-bit ELF');
});

const released = 150_000_000;

if (process.env.TATAMI_LONG)
  test('a release build targets its machine, has at most 150 MB, and is reproducible', () => {
    const dir = mkdtempSync(join(tmpdir(), 'tatami-release-'));
    const build = (): string => {
      const { stdout, stderr, success } = Bun.spawnSync([process.execPath, 'build/main.ts', '--out', dir], {
        cwd: root,
      });
      expect({ success, stderr: stderr.toString() }).toEqual({ success: true, stderr: '' });
      return stdout.toString();
    };
    const sums = build();
    expect(build()).toBe(sums);
    const machines = targets.map(({ name, arch }) => {
      const file = readFileSync(join(dir, `tatami-${name}`));
      expect(file.length).toBeLessThanOrEqual(released);
      return [arch, file.readUInt16LE(18)];
    });
    // e_machine: EM_X86_64 and EM_AARCH64.
    expect(machines).toEqual([
      ['x64', 62],
      ['arm64', 183],
    ]);
    rmSync(dir, { recursive: true });
  }, 600_000);
