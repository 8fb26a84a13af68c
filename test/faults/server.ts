// A real server process for fault tests, and a client of it.
import type { Client, Json } from '../app.ts';
import { programCommand } from '../program.ts';

export interface Server {
  readonly url: string;
  readonly child: Bun.Subprocess;
}

export interface ServerOptions {
  readonly flags?: readonly string[];
  /** Flags of Bun; with them the program starts from source. */
  readonly bunFlags?: readonly string[];
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Servers of failed tests, which are ended at the end of the file. */
const running = new Set<Bun.Subprocess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export async function startServer(dir: string, options: ServerOptions = {}): Promise<Server> {
  const child = Bun.spawn(
    programCommand(
      [
        ...['serve', '--data-dir', dir, '--port', '0', '--rate-limit', 'off', '--json'],
        ...(options.flags ?? []),
      ],
      options.bunFlags,
    ),
    {
      stdout: 'pipe',
      stderr: 'ignore',
      env: { ...process.env, ...options.env },
    },
  );
  running.add(child);
  void child.exited.then(() => running.delete(child));
  const reader = child.stdout.getReader();
  let text = '';
  while (!text.includes('\n')) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the server ended with ${await child.exited}`);
    text += new TextDecoder().decode(value);
  }
  const { url } = JSON.parse(text);
  if (typeof url !== 'string') throw new Error(`the server did not start: ${text}`);
  return { url, child };
}

export const clientOf =
  (url: string, key: string): Client =>
  async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: (text === '' ? null : JSON.parse(text)) as Json,
    };
  };

/** A linear congruential generator: the same faults in every run. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) / 0x7fffffff;
}
