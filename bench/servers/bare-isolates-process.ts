// Starts the bare isolates in the sidecars' Node, with the same engine flags and priority.
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { engineFlags, niceness } from '../../core/platform/sandbox/fleet/spawn.ts';
import { findAddon, findNode } from '../../core/platform/sandbox/locate.ts';
import type { BarePlan, BareStart } from './bare-isolates.ts';
import type { RunsResult } from './sandbox-server.ts';

export interface BareIsolates extends AsyncDisposable {
  run(plan: BarePlan): Promise<RunsResult>;
}

export async function startBareIsolates(options: Omit<BareStart, 'addonPath'>): Promise<BareIsolates> {
  const input: BareStart = { ...options, addonPath: findAddon() };
  const child = Bun.spawn(
    [findNode(), ...engineFlags, '--input-type=module', '--eval', await bundled(), JSON.stringify(input)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  setPriority(child.pid, niceness);
  const lines = createInterface({ input: Readable.fromWeb(child.stdout as never) })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error('The bare isolates exited.');
    return value as string;
  };
  await next();
  return {
    async run(plan) {
      await child.stdin.write(`${JSON.stringify(plan)}\n`);
      await child.stdin.flush();
      return JSON.parse(await next()) as RunsResult;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await child.exited;
    },
  };
}

async function bundled(): Promise<string> {
  const entry = fileURLToPath(new URL('bare-isolates.ts', import.meta.url));
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'node' });
  const [output] = outputs;
  if (!output) throw new Error('Bundling the bare isolates failed.');
  return output.text();
}
