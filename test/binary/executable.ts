// Builds the executable for this machine, and runs it in an empty folder, with an environment that contains only the
// directory for unpacked files.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../imports.ts';
import type { Json } from '../app.ts';
import { collect, ended, type CliResult } from '../cli/tatami.ts';

export interface Executable {
  readonly path: string;
  /** Working directory; empty at first. */
  readonly folder: string;
  readonly cache: string;
  /** Output of the build. */
  readonly built: string;
  run(args: readonly string[], env?: Record<string, string>): Promise<CliResult>;
  start(args: readonly string[], env?: Record<string, string>): Promise<Started>;
  remove(): void;
}

export interface Started {
  /** Output of the start once the server is ready. */
  readonly ready: Json;
  readonly pid: number;
  /** First log entry with this text. */
  logged(text: string): Promise<Json>;
  /** Waits for the end of the process. */
  stop(): Promise<void>;
}

/** Uses a fast compression level; the content is the same. */
export function buildExecutable(): Executable {
  // Private, so that the users of sidecars cannot enter.
  const outside = mkdtempSync(join(tmpdir(), 'tatami-binary-'));
  const target = `linux-${process.arch}`;
  const dist = join(outside, 'dist');
  const command = [process.execPath, 'build/main.ts', '--target', target, '--level', '3', '--out', dist];
  const { success, stdout, stderr } = Bun.spawnSync(command, { cwd: root });
  if (!success) throw new Error(`The build failed: ${stderr.toString()}`);
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

/** Starts a server from source, for comparison. */
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
      throw new Error(`The process ended before it was ready: ${log.text()}`);
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
    },
  };
}
