// Starts the servers of a benchmark on temporary data directories and removes them afterwards.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild, type Child } from '../children.ts';
import { startLoad } from '../rounds.ts';
import type { TatamiReady, TatamiStart } from './tatami-server.ts';
import type { YardstickReady, YardstickStart } from '../yardstick/server.ts';

export interface TatamiChild extends TatamiReady {
  readonly child: Child;
  readonly dataDir: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Bench {
  readonly load: Child;
  temporary(): string;
  /** @param file path relative to `children.ts` */
  start(file: string): Child;
  /** @param env added to the environment of this process */
  tatami(options?: Partial<TatamiStart>, env?: Readonly<Record<string, string>>): Promise<TatamiChild>;
  /** Stops a server and starts it again on the same data, so that seeding does not affect the figures. */
  anew(server: TatamiChild): Promise<TatamiChild>;
  /** @param issues number of issues to seed */
  yardstick(issues?: number): Promise<YardstickReady & { readonly child: Child }>;
}

/** Passes a bench to `work` and ends its servers afterwards, also if `work` fails. */
export async function withServers<T>(work: (bench: Bench) => Promise<T>): Promise<T> {
  const started: Child[] = [];
  const folders: string[] = [];
  const begin = (file: string, env: Readonly<Record<string, string>> = {}): Child => {
    const child = startChild(file, env);
    started.push(child);
    return child;
  };
  const temporary = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'tatami-bench-'));
    folders.push(folder);
    return folder;
  };
  const load = startLoad();
  started.push(load);
  const tatami: Bench['tatami'] = async (options = {}, env = {}) => {
    const dataDir = options.dataDir ?? temporary();
    const child = begin('servers/tatami-server.ts', env);
    const ready = await child.ask<TatamiReady>('start', { issues: 0, ...options, dataDir });
    return { ...ready, child, dataDir, headers: { Authorization: `Bearer ${ready.apiKey}` } };
  };
  try {
    return await work({
      load,
      temporary,
      start: (file) => begin(file),
      tatami,
      async anew({ child, dataDir, apiKey, issueIds }) {
        await child.ask('stop');
        await child.kill();
        return { ...(await tatami({ dataDir, apiKey })), issueIds };
      },
      async yardstick(issues = 0) {
        const child = begin('yardstick/server.ts');
        const input: YardstickStart = { path: join(temporary(), 'yardstick.db'), issues };
        return { child, ...(await child.ask<YardstickReady>('start', input)) };
      },
    });
  } finally {
    await Promise.all(started.map((child) => child.kill()));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}
