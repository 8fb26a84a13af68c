/** The stream client reads each event once and in order from a server that breaks the stream in every way. */
import { expect, test } from 'bun:test';
import { ApiCallError } from './error.ts';
import { streamEvents, type StreamedEvent, type StreamOptions } from './stream.ts';

const frame = (sequence: number, generation = 'one'): string =>
  `id: ${sequence}:${generation}\nevent: issue.created\ndata: {"sequence":${sequence}}\n\n`;

interface StreamRequest {
  lastEventId: string | null;
  url: URL;
  authorization: string | null;
}

/** Responds to each connection with the next of `answers`, and to all later ones with the last. */
function startServer(...answers: ((requests: StreamRequest) => Response)[]) {
  const requests: StreamRequest[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ headers, url }) {
      const one = {
        lastEventId: headers.get('last-event-id'),
        url: new URL(url),
        authorization: headers.get('authorization'),
      };
      requests.push(one);
      return answers[Math.min(requests.length, answers.length) - 1]!(one);
    },
  });
  return { asked: requests, url: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) };
}

const eventStream = (source: UnderlyingDefaultSource<Uint8Array>): Response =>
  new Response(new ReadableStream(source), { headers: { 'content-type': 'text/event-stream' } });
const encoded = (chunk: string | Uint8Array): Uint8Array =>
  typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
const events =
  (...chunks: (string | Uint8Array)[]) =>
  (): Response => {
    const left = chunks.map(encoded);
    return eventStream({
      async pull(stream) {
        const chunk = left.shift();
        if (chunk === undefined) return stream.close();
        stream.enqueue(chunk);
        // Waits, so that the chunks are sent separately.
        await new Promise((resolve) => void setImmediate(resolve));
      },
    });
  };
const refusal = (status: number, code: string) => (): Response =>
  Response.json({ error: { code, message: code } }, { status });

async function read(url: string, count: number, more: Partial<StreamOptions> = {}): Promise<StreamedEvent[]> {
  const got: StreamedEvent[] = [];
  for await (const event of streamEvents({ server: url, token: 'ttm_x', sleep: async () => {}, ...more })) {
    got.push(event);
    if (got.length === count) break;
  }
  return got;
}
const sequences = (got: StreamedEvent[]): (number | null)[] => got.map(({ sequence }) => sequence);

test('the stream resumes after the last event read, despite interruptions and duplicates', async () => {
  await using server = startServer(
    events('id: 4\n\n'),
    events(frame(5), frame(6), frame(7).slice(0, -1)),
    refusal(503, 'unavailable'),
    events(frame(6), frame(7)),
    events(': alive\n\n', frame(8)),
  );
  const waits: string[] = [];
  let opened = 0;
  const got = await read(server.url, 4, {
    onWait: (_, { code }) => void waits.push(code),
    onOpen: () => void opened++,
  });
  expect(sequences(got)).toEqual([5, 6, 7, 8]);
  expect(server.asked.map(({ lastEventId }) => lastEventId)).toEqual([null, '4', '6:one', '6:one', '7:one']);
  expect(waits).toEqual(['unreachable', 'unreachable', 'unavailable', 'unreachable']);
  expect(opened).toBe(4);
});

test('the request has types, samples, the start position and the token, and a sample does not move the position', async () => {
  const sample = 'event: issue.created\ndata: {"sequence":0}\n\n';
  await using server = startServer(events(sample, frame(11)), events(frame(12)));
  const got = await read(server.url, 3, { types: ['issue.*', 'comment.added'], samples: true, after: 10 });
  expect(got.map(({ sequence, payload }) => [sequence, payload])).toEqual([
    [null, '{"sequence":0}'],
    [11, '{"sequence":11}'],
    [12, '{"sequence":12}'],
  ]);
  const [first, second] = server.asked;
  expect(first).toMatchObject({ lastEventId: '10', authorization: 'Bearer ttm_x' });
  expect(Object.fromEntries(first!.url.searchParams)).toEqual({
    types: 'issue.*,comment.added',
    samples: 'true',
  });
  expect(second!.lastEventId).toBe('11:one');
});

test('each connection requests a current token, and the stream ends with the reason if there is none', async () => {
  await using server = startServer(events(frame(1)), events(frame(2)));
  const ended = new Error('Log in again.');
  const tokens = ['one', 'two'];
  const token = async (): Promise<string> => {
    const next = tokens.shift();
    if (next === undefined) throw ended;
    return next;
  };
  await expect(read(server.url, 3, { token })).rejects.toBe(ended);
  expect(server.asked.map(({ authorization }) => authorization)).toEqual(['Bearer one', 'Bearer two']);
});

test('text is reassembled where a character was split', async () => {
  const bytes = new TextEncoder().encode('id: 1\nevent: a\ndata: "grüße 日本"\n\n');
  const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
  await using server = startServer(events(...pieces));
  expect((await read(server.url, 1))[0]!.payload).toBe('"grüße 日本"');
});

test('permanent failures are thrown: a rejected key, a missing scope, a missing stream, no server at first', async () => {
  for (const [status, code] of [
    [401, 'unauthorized'],
    [403, 'insufficient_scope'],
    [422, 'validation_failed'],
  ] as const) {
    await using server = startServer(refusal(status, code));
    const error = await read(server.url, 1).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ApiCallError);
    expect(error).toMatchObject({ status, code });
    expect(server.asked).toHaveLength(1);
  }
  await using page = startServer(() => new Response('<h1>Hello</h1>'));
  expect(await read(page.url, 1).catch((error: unknown) => error)).toMatchObject({ code: 'not_tatami' });
  const gone = startServer(events());
  await gone[Symbol.asyncDispose]();
  expect(await read(gone.url, 1).catch((error: unknown) => error)).toMatchObject({ code: 'unreachable' });
  // A key revoked later also ends the stream.
  await using revoked = startServer(events(frame(1)), refusal(401, 'unauthorized'));
  expect(await read(revoked.url, 2).catch((error: unknown) => error)).toMatchObject({ status: 401 });
});

test('an abort signal ends the stream without an error, during a read and during a wait', async () => {
  const silent = (): Response => eventStream({ start: (stream) => stream.enqueue(encoded(frame(1))) });
  await using reading = startServer(silent);
  const stop = new AbortController();
  const got: unknown[] = [];
  for await (const event of streamEvents({ server: reading.url, token: 'x', signal: stop.signal })) {
    got.push(event);
    setImmediate(() => stop.abort());
  }
  expect(got).toHaveLength(1);
  await using ending = startServer(events(frame(1)));
  const waiting = new AbortController();
  for await (const _ of streamEvents({
    server: ending.url,
    token: 'x',
    signal: waiting.signal,
    onWait: () => waiting.abort(),
  }));
});

test('after a restore of the server a stream with a handler resumes at the point of divergence', async () => {
  const changed = () =>
    Response.json(
      {
        error: {
          code: 'history_changed',
          message: 'restored',
          details: [
            { path: 'after', issue: 'conflict', value: '6' },
            { path: 'generation', issue: 'conflict', value: 'two' },
          ],
        },
      },
      { status: 409 },
    );
  await using server = startServer(events(frame(7)), changed, events(frame(7, 'two')));
  const changes: object[] = [];
  const got = await read(server.url, 2, { onHistoryChanged: (position) => void changes.push(position) });
  expect(got.map(({ sequence, generation }) => [sequence, generation])).toEqual([
    [7, 'one'],
    [7, 'two'],
  ]);
  expect(changes).toEqual([{ after: 6, generation: 'two' }]);
  expect(server.asked.map(({ lastEventId }) => lastEventId)).toEqual([null, '7:one', '6:two']);
  await using other = startServer(changed);
  await expect(read(other.url, 1)).rejects.toMatchObject({ code: 'history_changed', status: 409 });
});
