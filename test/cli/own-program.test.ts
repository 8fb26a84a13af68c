import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownProgram } from '../../core/platform/lib/process/own-program.ts';

test('a child process is the same command, ignores the folder of its parent, and resolves paths in the given directory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tatami-own-'));
  Bun.spawnSync(['sh', '-c', 'echo preload = \\"./nothing.ts\\" > bunfig.toml; mkdir below'], {
    cwd: folder,
  });
  const command = ownProgram(['plugins', 'pack', 'below', '--json'], folder);
  const { stdout } = Bun.spawnSync(command, { cwd: folder, env: {} });
  rmSync(folder, { recursive: true });
  expect(JSON.parse(stdout.toString())).toEqual({
    error: { code: 'failed', message: expect.stringContaining(join(folder, 'below/plugin.ts')) },
  });
});
