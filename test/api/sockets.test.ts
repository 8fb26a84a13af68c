// Malformed and slow HTTP over raw sockets (docs/spec/api.md › Requests and responses) is refused or closed, without a
// 5xx, without a hang, and without effect on others.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { startApp, type TestApp } from '../app.ts';

let app: TestApp;
let port: number;
beforeAll(async () => {
  app = await startApp();
  port = Number(new URL(app.url).port);
});
afterAll(() => app.stop());

/** Returns the response once the peer closes or is silent after its first bytes; 5 s without any byte is a hang. */
function send(bytes: string): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const done = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    let timer = setTimeout(() => done(false), 5_000);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      clearTimeout(timer);
      timer = setTimeout(() => done(false), 200);
    });
    socket.on('error', () => done(true));
    socket.on('close', () => done(true));
    socket.write(bytes, 'latin1');
  });
}

const auth = (): string =>
  `Host: localhost\r\nAuthorization: Bearer ${app.workspace.apiKey}\r\nContent-Type: application/json\r\n`;
const body = '{"team":"ENG","title":"smuggled"}';

test('requests that two parsers could read differently are refused', async () => {
  const before = (await app.call('GET', '/api/v1/issues?limit=100')).json.data.length;
  const malformed = [
    `POST /api/v1/issues HTTP/1.1\r\n${auth()}Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${body}`,
    `POST /api/v1/issues HTTP/1.1\r\n${auth()}Content-Length: 5\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    `POST /api/v1/issues HTTP/1.1\r\n${auth()}Transfer-Encoding: chunked\r\n\r\nZZ\r\n${body}\r\n0\r\n\r\n`,
    `POST /api/v1/issues HTTP/1.1\r\n${auth()}Content-Length: -1\r\n\r\n${body}`,
    `POST /api/v1/issues HTTP/1.1\r\n${auth()}Content-Length: 0x21\r\n\r\n${body}`,
    `POST /api/v1/issues HTTP/1.1\r\n${auth()}Content-Length: ${'9'.repeat(30)}\r\n\r\n${body}`,
    `POST /api/v1/issues HTTP/1.1\r\n${auth()}Content-Length: ${body.length}, 5\r\n\r\n${body}`,
    `POST /api/v1/issues HTTP/1.1\r\n${auth()}Transfer-Encoding: gzip\r\n\r\n${body}`,
    `POST /api/v1/issues HTTP/1.1\r\n${auth()}Transfer-Encoding: chunked\r\n\r\n${'f'.repeat(17)}\r\n${body}`,
    `POST /api/v1/issues HTTP/1.1\r\n${auth()}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":1}\r\n0\r\n\r\n`,
    `POST /api/v1/issues HTTP/1.1\n${auth().replaceAll('\r\n', '\n')}Content-Length: ${body.length}\n\n${body}`,
    `POST /api/v1/issues HTTP/1.1\r\n${auth()}Content-Length: 5\r\n\r\n\xff\xfe\xfd\xfc\xfb`,
    `GET /api/v1/issues?team=\xff\xfe HTTP/1.1\r\n${auth()}\r\n`,
    `GET /api/v1/\xc0\xaf HTTP/1.1\r\n${auth()}\r\n`,
    `GET /api/v1/issues HTTP/1.1\r\n${auth()}X: a\0b\r\n\r\n`,
    `GET /api/v1/issues HTTP/1.1\r\n\r\n`,
    `GET /api/v1/issues HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
    `GET /api/v1/issues HTTP/1.1\r\n${auth()} folded: x\r\n\r\n`,
    `GET http://evil.example/api/v1/issues HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    `CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n`,
    `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
    `GET /api/v1/issues\0 HTTP/1.1\r\n${auth()}\r\n`,
    `GET  /api/v1/issues HTTP/1.1\r\n${auth()}\r\n`,
    `GET /api/v1/issues HTTP/9.9\r\n${auth()}\r\n`,
    `GET /api/v1/issues HTTP/1.1\r\nBad Header: x\r\n${auth()}\r\n`,
    `GET /api/v1/issues HTTP/1.1\r\n${auth()}X-Long: ${'x'.repeat(60_000)}\r\n\r\n`,
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'garbage\r\n\r\n',
  ];
  const answers = await Promise.all(malformed.map((bytes) => send(bytes)));
  for (const [index, { text, closed }] of answers.entries()) {
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
    // 505 is Bun's response to an unreadable request line, before our code runs.
    const refused = status === 0 ? closed : (status >= 400 && status < 500) || status === 505;
    expect([malformed[index]!.slice(0, 200), status, refused]).toEqual([
      malformed[index]!.slice(0, 200),
      status,
      true,
    ]);
  }
  expect((await app.call('GET', '/api/v1/issues?limit=100')).json.data.length).toBe(before);
  const sound = await send(
    `POST /api/v1/issues HTTP/1.1\r\n${auth()}Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  expect(sound.text).toStartWith('HTTP/1.1 201');
});

test('a short Host header does not affect the route', async () => {
  const { text } = await send(`GET /api/v1/issues HTTP/1.1\r\n${auth().replace('localhost', 'x')}\r\n`);
  expect(text).toStartWith('HTTP/1.1 200');
});

test('a path is matched without decoding or normalization', async () => {
  const ask = async (path: string): Promise<string> => {
    const { text } = await send(`GET ${path} HTTP/1.1\r\n${auth()}Connection: close\r\n\r\n`);
    return text.slice(9, 12);
  };
  expect(await ask('/api/v1/issues?filter={"title":{"contains":"//"}}')).toBe('200');
  for (const path of ['//api/v1/issues', '///api/v1/issues', '/api//v1/issues', '//localhost/api/v1/issues'])
    expect([path, await ask(path)]).toEqual([path, '404']);
});

/** Opens a connection, sends a request, and stays connected after the response. */
function openAnswered(to: number, request: string) {
  const socket = connect(to, '127.0.0.1');
  const opened = { socket, text: '', closed: false };
  socket.on('data', (bytes) => (opened.text += bytes.toString('latin1'))).on('error', () => undefined);
  socket.on('close', () => (opened.closed = true));
  socket.write(request);
  return opened;
}

// Both tests mostly wait, independently of each other.
test.concurrent(
  'slow connections are closed within 15 s, others are served meanwhile, and idle connections stay open',
  async () => {
    const started = performance.now();
    const requestText = `GET /api/v1/team HTTP/1.1\r\n${auth()}\r\n`;
    const persistent = openAnswered(port, requestText);
    const closedAfter: number[] = [];
    const sockets = Array.from({ length: process.env.TATAMI_LONG ? 2000 : 200 }, (_, index) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.resume();
      socket.on('close', () => closedAfter.push(performance.now() - started));
      socket.write(
        index % 2 === 0
          ? 'GET /api/v1/issues HTTP/1.1\r\nHost: localhost\r\nX-Drip: '
          : 'POST /api/v1/issues HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{',
      );
      return socket;
    });
    expect((await app.call('GET', '/api/v1/issues')).status).toBe(200);
    while (closedAfter.length < sockets.length && performance.now() - started < 16_000) await Bun.sleep(50);
    for (const socket of sockets) socket.destroy();
    expect(closedAfter.length).toBe(sockets.length);
    expect([persistent.text.slice(0, 12), persistent.closed]).toEqual(['HTTP/1.1 404', false]);
    expect(persistent.text).toContain('Keep-Alive: timeout=75');
    persistent.text = '';
    persistent.socket.write(requestText);
    while (persistent.text === '' && !persistent.closed) await Bun.sleep(5);
    expect(persistent.text).toStartWith('HTTP/1.1 404');
    persistent.socket.destroy();
  },
  60_000,
);

test.concurrent(
  'an idle connection stays open for the configured time, also after a large response',
  async () => {
    const brief = await startApp({ flags: { keepAlive: '1' } });
    const closing = await startApp({ flags: { keepAlive: '0' } });
    try {
      const request = (app: TestApp, path: string): string =>
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${app.workspace.apiKey}\r\n\r\n`;
      const description = 'x'.repeat(90_000);
      for (let index = 0; index < 4; index++)
        expect(
          (await brief.call('POST', '/api/v1/issues', { team: 'ENG', title: 't', description })).status,
        ).toBe(201);
      const open = [
        openAnswered(Number(new URL(brief.url).port), request(brief, '/api/v1/workspace')),
        openAnswered(Number(new URL(brief.url).port), request(brief, '/api/v1/issues')),
        openAnswered(Number(new URL(closing.url).port), request(closing, '/api/v1/workspace')),
      ];
      for (const endMs = performance.now() + 9_000; performance.now() < endMs;) {
        if (open.every(({ closed }) => closed)) break;
        await Bun.sleep(20);
      }
      expect(open.map(({ text, closed }) => `${text.slice(0, 12)} ${closed}`)).toEqual(
        open.map(() => 'HTTP/1.1 200 true'),
      );
      expect(open[1]!.text.length).toBeGreaterThan(300_000);
      expect(open[2]!.text).toContain('Connection: close');
    } finally {
      await brief.stop();
      await closing.stop();
    }
  },
  30_000,
);
