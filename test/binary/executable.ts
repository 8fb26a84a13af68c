// Builds the executable for this machine, and runs it as somebody has it who copied it alone: in a folder of its own, with nothing in
// its environment but where it may unpack.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../imports.ts';
import type { Json } from '../app.ts';
import { collect, ended, type CliResult } from '../cli/tatami.ts';

export interface Executable {
  readonly path: string;
  /** Empty; it can be filled. */
  readonly folder: string;
  readonly cache: string;
  /** What the build printed. */
  readonly built: string;
  run(args: readonly string[], env?: Record<string, string>): Promise<CliResult>;
  start(args: readonly string[], env?: Record<string, string>): Promise<Started>;
  remove(): void;
}

export interface Started {
  /** What it printed when it was ready. */
  readonly ready: Json;
  readonly pid: number;
  /** The first entry of the log with this text. */
  logged(text: string): Promise<Json>;
  /** Until the process is gone. @returns milliseconds of processor time that it had */
  stop(): Promise<number>;
}

/** The level of compression is a quick one: what it holds is the same. */
export function buildExecutable(): Executable {
  // Private: the users of sidecars may not enter.
  const outside = mkdtempSync(join(tmpdir(), 'tatami-binary-'));
  const target = `linux-${process.arch}`;
  const dist = join(outside, 'dist');
  const command = [process.execPath, 'build/main.ts', '--target', target, '--level', '3', '--out', dist];
  const { success, stdout, stderr } = Bun.spawnSync(command, { cwd: root });
  if (!success) throw new Error(`It does not build: ${stderr.toString()}`);
  const [folder, cache, path] = ['folder', 'cache', 'tatami'].map((name) => join(outside, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(folder);
  copyFileSync(join(dist, `tatami-${target}`), path);
  const spawn = (args: readonly string[], env: Record<string, string>) =>
    Bun.spawn([path, ...args], {
      cwd: folder,
      env: { TATAMI_CACHE_DIR: cache, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
  return {
    path,
    folder,
    cache,
    built: stdout.toString(),
    run: (args, env = {}) => ended(spawn(args, env)),
    start: (args, env = {}) => started(spawn(['serve', '--port', '0', '--json', ...args], env)),
    remove: () => rmSync(outside, { recursive: true, force: true }),
  };
}

/** The same of a server from source. */
export const startFromSource = (args: readonly string[]): Promise<Started> =>
  started(
    Bun.spawn([join(root, 'bin/tatami'), 'serve', '--port', '0', '--json', ...args], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  );

async function started(child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>): Promise<Started> {
  const [out, log] = [collect(child.stdout), collect(child.stderr)];
  await out
    .until((text) => text.endsWith('\n'))
    .catch(() => {
      throw new Error(`It ended before it was ready: ${log.text()}`);
    });
  const entry = (text: string): string | undefined =>
    log
      .text()
      .split('\n')
      .slice(0, -1)
      .find((line) => line.includes(text));
  return {
    ready: JSON.parse(out.text()),
    pid: child.pid,
    async logged(text) {
      await log.until(() => entry(text) !== undefined);
      return JSON.parse(entry(text) ?? '');
    },
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
      return Number(child.resourceUsage()?.cpuTime.total ?? 0n) / 1000;
    },
  };
}
