import { existsSync, readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Json, Reply, TestApp } from './app.ts';

/** An upload whose body is sent in pieces by the test. */
export interface Drip {
  send(bytes: number): void;
  end(): void;
  readonly answer: Promise<Reply>;
}

/** Uses a raw connection, because fetch does not return a response before the body is sent. */
export function startUpload(
  app: TestApp,
  { to, key = app.workspace.apiKey }: { readonly to: string; readonly key?: string | undefined },
): Drip {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  const { promise: answer, resolve } = Promise.withResolvers<Reply>();
  let text = '';
  socket.on('data', (data) => {
    text += data.toString();
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const [status = '', ...lines] = head.split('\r\n');
    const headers = new Headers(lines.map((line) => line.split(': ', 2) as [string, string]));
    if (body.length < Number(headers.get('content-length') ?? Infinity)) return;
    resolve({ status: Number(status.split(' ')[1]), headers, text: body, json: JSON.parse(body) as Json });
    socket.destroy();
  });
  socket.on('error', () => undefined);
  socket.write(
    [
      `POST /api/v1/issues/${to}/attachments/upload?name=a.bin HTTP/1.1`,
      ...['Host: tatami', `Authorization: Bearer ${key}`, 'Content-Type: application/octet-stream'],
      ...['Transfer-Encoding: chunked', '\r\n'],
    ].join('\r\n'),
  );
  return {
    send: (bytes) => void socket.write(`${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`),
    end: () => void socket.write('0\r\n\r\n'),
    answer,
  };
}

/** Returns the sizes of partially received files on the server. */
export function incoming({ dataDir }: TestApp): number[] {
  const folder = join(dataDir, 'blobs/incoming');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0,
  );
}
/** Resolves once the server has read the last piece and waits for the next one. */
export async function until(isTrue: () => boolean): Promise<void> {
  const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  while (!isTrue()) await nextTick();
  for (let ticks = 0; ticks < 30; ticks++) await nextTick();
}
