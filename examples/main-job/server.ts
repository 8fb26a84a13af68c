// Runs `tatami` commands, and one server for the example.
import { join } from 'node:path';

/** `TATAMI_BIN` overrides the command, for example with an executable in `dist`. */
const command = process.env.TATAMI_BIN ?? join(import.meta.dir, '../../bin/tatami');

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command with `--json`, and returns its result even if it fails. */
export async function tried(...args: string[]): Promise<CommandResult> {
  const child = Bun.spawn([command, ...args, '--json'], { stdout: 'pipe', stderr: 'pipe' });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}

/** Runs one command with `--json`, and returns its value. @throws Error with its output if it fails */
export async function tatami<T>(...args: string[]): Promise<T> {
  const { code, out, err } = await tried(...args);
  if (code !== 0) throw new Error(`tatami ${args[0]} exited ${code}: ${out}${err}`);
  return JSON.parse(out) as T;
}

/** Creates a data directory with a workspace. @returns its first API key */
export async function firstKey(dataDir: string): Promise<string> {
  const team = ['--workspace', 'Acme', '--team', 'HQ'];
  return (await tatami<{ apiKey: string }>('init', '--data-dir', dataDir, ...team)).apiKey;
}

export interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

/** The example's receiver is on loopback, which the egress guard rejects unless the operator allows it. */
export async function startServer(dataDir: string): Promise<Server> {
  const child = Bun.spawn(
    [command, 'serve', '--data-dir', dataDir, '--port', '0', '--egress-allow', '127.0.0.0/8', '--json'],
    { stdout: 'pipe', stderr: 'inherit', env: { ...process.env, TATAMI_LOG_LEVEL: 'warn' } },
  );
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes('\n')) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The server ended with ${await child.exited} before it was ready.`);
    text += decoder.decode(value);
  }
  const { url } = JSON.parse(text.slice(0, text.indexOf('\n'))) as { url: string };
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}
