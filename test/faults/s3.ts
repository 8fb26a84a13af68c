// Starts the S3 server of the tests, which can be stopped and restarted on the same port with its data.
import { join } from 'node:path';
import { findNode } from '../../core/platform/sandbox/locate.ts';
import { temporary } from './copied.ts';

export interface S3Server {
  /** Environment for `tatami serve`. */
  readonly env: Readonly<Record<string, string>>;
  readonly settings: {
    readonly endpoint: string;
    readonly region: null;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  };
  /** Stops the server. Its data stays. */
  stop(): Promise<void>;
  restart(): Promise<void>;
}

const running = new Set<Bun.Subprocess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export async function startS3(): Promise<S3Server> {
  const folder = temporary();
  let { child, port } = await spawn(folder, 0);
  const endpoint = `http://127.0.0.1:${port}`;
  const key = 'S3RVER';
  return {
    env: {
      TATAMI_S3_ENDPOINT: endpoint,
      TATAMI_S3_ACCESS_KEY_ID: key,
      TATAMI_S3_SECRET_ACCESS_KEY: key,
    },
    settings: { endpoint, region: null, accessKeyId: key, secretAccessKey: key },
    async stop() {
      child.kill('SIGKILL');
      await child.exited;
    },
    restart: async () => void ({ child } = await spawn(folder, port)),
  };
}

async function spawn(folder: string, wanted: number): Promise<{ child: Bun.Subprocess; port: number }> {
  const child = Bun.spawn(
    [findNode(), '--openssl-legacy-provider', join(import.meta.dir, 's3-process.ts'), folder, String(wanted)],
    { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' },
  );
  running.add(child);
  void child.exited.then(() => running.delete(child));
  const { value } = await child.stdout.getReader().read();
  const { port } = JSON.parse(new TextDecoder().decode(value)) as { port: number };
  return { child, port };
}
