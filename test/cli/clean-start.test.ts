// The command starts without settings of the working directory and resolves paths in it, regardless of how it is
// started.
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cleanBunFlags, packageRoot } from '../../core/platform/lib/process/own-program.ts';
import { createHostileFolder, plugin } from './hostile-folder.ts';
import { ended, runIn } from './tatami.ts';

const hostile = createHostileFolder();
const { outside, folder, stolen, thief, fill } = hostile;
afterEach(hostile.empty);
afterAll(hostile.remove);

describe('run as `bun core/main.ts`, the command restarts itself', () => {
  const main = join(packageRoot, 'core/main.ts');
  const typed = async (...args: string[]) =>
    ended(
      Bun.spawn([process.execPath, main, ...args], {
        cwd: folder,
        env: { PATH: process.env.PATH ?? '', HOME: outside, TATAMI_TOKEN: 'ttm_precious_key' },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    );

  test('the restarted command ignores .env', async () => {
    fill({ '.env': `TATAMI_SERVER=${thief.url.origin}\nHTTP_PROXY=${thief.url.origin}\n` });
    await typed('plugins', 'list', '--json');
    await typed('plugins', 'list', '--server', 'http://tatami.test', '--json');
    expect(stolen).toEqual([]);
  });

  test('a missing import of a plugin triggers no registry request', async () => {
    fill({
      '.npmrc': `registry=${thief.url.href}\n`,
      'plugin.ts': `export { x as default } from 'left-pad-of-nobody';`,
    });
    const { json } = await typed('plugins', 'pack', '.', '--json');
    expect(json.error.message).toContain('left-pad-of-nobody, which cannot be found');
    expect(stolen).toEqual([]);
  });

  test('a directory with a bunfig.toml is rejected with the command that ignores it', async () => {
    fill({ 'bunfig.toml': '', '.env': `TATAMI_SERVER=${thief.url.origin}\n` });
    const { code, json } = await typed('plugins', 'list', '--json');
    expect([code, json.error]).toEqual([
      2,
      { code: 'usage', message: expect.stringContaining(join(packageRoot, 'bin/tatami')) },
    ]);
    expect(stolen).toEqual([]);
  });
});

test('paths are relative to the working directory, regardless of how the command is started', async () => {
  fill({ 'plugin/plugin.ts': plugin, 'sub dir/x': '' });
  const link = join(outside, 'tatami');
  symlinkSync(join(packageRoot, 'bin/tatami'), join(outside, 'hop'));
  symlinkSync('hop', link);
  const packed = Bun.spawnSync([link, 'plugins', 'pack', '../plugin', '--out', '../made.json', '--json'], {
    cwd: join(folder, 'sub dir'),
    env: { PATH: process.env.PATH ?? '', HOME: outside },
  });
  expect(JSON.parse(packed.stdout.toString())).toMatchObject({ file: '../made.json', id: 'hostile' });
  expect(existsSync(join(folder, 'made.json'))).toBe(true);
  const initResult = await runIn(folder, [
    'init',
    '--data-dir',
    'data',
    '--workspace',
    'A',
    '--team',
    'ENG',
    '--json',
  ]);
  expect([initResult.code, existsSync(join(folder, 'data/master.key'))]).toEqual([0, true]);
});

test('the launcher and the restart use the same flags', () => {
  const launcher = readFileSync(join(packageRoot, 'bin/tatami'), 'utf8');
  expect(launcher).toContain(` ${cleanBunFlags.join(' ')} "--cwd=$root"`);
});
