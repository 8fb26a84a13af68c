// Error messages if the unpacked Node does not run.
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findAddon, findNode } from '../../platform/sandbox/locate.ts';
import { proveNodeRuns } from './cache.ts';

const outside = mkdtempSync(join(tmpdir(), 'tatami-prove-'));
afterAll(() => rmSync(outside, { recursive: true }));
const isRoot = process.geteuid?.() === 0;

test('the bundled Node runs and loads the addon', () => {
  proveNodeRuns(findNode(), findAddon());
});

test('an addon that does not load reports the reason', () => {
  const addon = join(outside, 'addon.node');
  writeFileSync(addon, 'no addon');
  expect(() => proveNodeRuns(findNode(), addon)).toThrow(/does not run here: .*addon.node: .*It needs glibc/);
});

const canMount = isRoot && Bun.spawnSync(['unshare', '--mount', 'true']).success;

test('a Node that does not run reports the missing library', () => {
  const program = join(outside, 'node');
  writeFileSync(program, '#!/bin/sh\necho libstdc++.so.6: cannot open shared object file >&2; exit 127\n', {
    mode: 0o700,
  });
  expect(() => proveNodeRuns(program, '')).toThrow(
    'libstdc++.so.6: cannot open shared object file. It needs glibc 2.34',
  );
});

test.skipIf(!canMount)('a file system mounted noexec is named (needs root)', () => {
  const script = `
    import { proveNodeRuns } from ${JSON.stringify(join(import.meta.dir, 'cache.ts'))};
    import { writeFileSync } from 'node:fs';
    writeFileSync('${outside}/m/node', '#!/bin/sh\\n', { mode: 0o700 });
    try { proveNodeRuns('${outside}/m/node', ''); } catch (error) { console.log(error.message); }`;
  mkdirSync(join(outside, 'm'));
  const mounted = `mount -t tmpfs -o noexec tmpfs ${outside}/m && exec "$@"`;
  const { stdout } = Bun.spawnSync([
    'unshare',
    '--mount',
    'sh',
    '-c',
    mounted,
    'sh',
    process.execPath,
    '-e',
    script,
  ]);
  expect(stdout.toString()).toContain(
    'mounted noexec. Name a directory on another one with TATAMI_CACHE_DIR.',
  );
});
