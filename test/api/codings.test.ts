// Compressed bodies (docs/spec/api.md › Compression) have the same content, entity tags and limits as uncompressed
// ones.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  constants,
  createZstdCompress,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib';
import { startApp, type Json, type TestApp } from '../app.ts';

let app: TestApp;
let issue: string;
beforeAll(async () => {
  app = await startApp();
  const description = 'A sentence that says the same again. '.repeat(60);
  issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Long', description })).json.id;
  // Random texts compress poorly, so that the response takes more than one chunk.
  const issues = Array.from({ length: 6 }, (_, n) => ({
    team: 'ENG',
    title: `Random ${n}`,
    description: Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('base64'),
  }));
  await app.call('POST', '/api/v1/issues/bulk', { issues });
});
afterAll(() => app.stop());

const decoders: Record<string, (bytes: Uint8Array) => Uint8Array> = {
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
  none: (bytes) => bytes,
};

interface Raw {
  readonly status: number;
  readonly headers: Headers;
  readonly coding: string;
  readonly bytes: Uint8Array;
  readonly text: string;
}

async function raw(path: string, headers: Record<string, string>, method = 'GET'): Promise<Raw> {
  const authorization = `Bearer ${app.workspace.apiKey}`;
  const response = await fetch(app.url + path, {
    method,
    headers: { authorization, 'accept-encoding': '', ...headers },
    decompress: false,
  });
  const bytes = await response.bytes();
  const coding = response.headers.get('content-encoding') ?? 'none';
  const text = bytes.length === 0 ? '' : new TextDecoder().decode(decoders[coding]!(bytes));
  return { status: response.status, headers: response.headers, coding, bytes, text };
}

const one = (): string => `/api/v1/issues/${issue}`;

test('a response uses the coding that the caller prefers, with the same content in each', async () => {
  const plain = await raw(one(), {});
  expect([plain.coding, plain.headers.get('vary')]).toEqual(['none', 'Accept-Encoding']);
  for (const [accepted, coding] of [
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip;q=1.0, zstd;q=0.5', 'gzip'],
    ['gzip; q=0.2 , zstd; q=0.4', 'zstd'],
    ['zstd;q=0, gzip', 'gzip'],
    ['*', 'zstd'],
    ['*;q=0.5, zstd;q=0', 'gzip'],
    ['br, deflate', 'none'],
    ['identity', 'none'],
    ['gzip;q=0', 'none'],
    ['identity, gzip;q=0.5', 'none'],
    ['identity;q=0.5, gzip', 'gzip'],
    ['*;q=0', 'none'],
    [';;,=,q=1', 'none'],
    ['gzip;q=x', 'none'],
  ] as const) {
    const coded = await raw(one(), { 'accept-encoding': accepted });
    expect([accepted, coded.coding]).toEqual([accepted, coding]);
    expect(coded.text).toBe(plain.text);
    expect(coded.headers.get('vary')).toBe('Accept-Encoding');
    expect(Number(coded.headers.get('content-length'))).toBe(coded.bytes.length);
    if (coding !== 'none') expect(coded.bytes.length).toBeLessThan(plain.bytes.length / 3);
    const head = await raw(one(), { 'accept-encoding': accepted }, 'HEAD');
    for (const name of ['content-encoding', 'content-length', 'content-type', 'etag', 'vary'])
      expect([name, head.headers.get(name)]).toEqual([name, coded.headers.get(name)]);
  }
});

test('short responses and event streams are not compressed', async () => {
  const short = await raw('/api/v1/teams', { 'accept-encoding': 'gzip' });
  expect([short.coding, short.headers.has('vary')]).toEqual(['none', false]);
  const stream = await fetch(`${app.url}/api/v1/events/stream`, {
    headers: { authorization: `Bearer ${app.workspace.apiKey}`, 'accept-encoding': 'gzip' },
  });
  expect(stream.headers.has('content-encoding')).toBe(false);
  await stream.body?.cancel();
});

test('long responses that worker threads compress have the same content', async () => {
  const list = '/api/v1/issues?limit=100';
  const plain = await raw(list, {});
  for (const coding of ['gzip', 'zstd']) {
    const coded = await Promise.all(
      Array.from({ length: 4 }, () => raw(list, { 'accept-encoding': coding })),
    );
    for (const { text } of coded) expect(text).toBe(plain.text);
    expect(coded[0]!.bytes.length).toBeGreaterThan(256 * 1024);
    const head = await raw(list, { 'accept-encoding': coding }, 'HEAD');
    expect(Number(head.headers.get('content-length'))).toBe(coded[0]!.bytes.length);
  }
});

test('an entity tag differs by coding, and each tag satisfies If-Match and If-None-Match', async () => {
  const tags = await Promise.all(
    ['', 'gzip', 'zstd'].map(async (accepted) =>
      String((await raw(one(), { 'accept-encoding': accepted })).headers.get('etag')),
    ),
  );
  expect(new Set(tags).size).toBe(3);
  for (const tag of tags) expect(tag).toMatch(/^"1-[0-9a-z]+"$/);
  for (const [known, tag] of [
    ...tags.map((tag) => [tag, tag] as const),
    ...tags.map((tag) => [`"x", W/${tag}`, tag] as const),
    ['*', tags[0]] as const,
  ])
    for (const accepted of ['', 'gzip', 'zstd']) {
      const requestHeaders = { 'if-none-match': known, 'accept-encoding': accepted };
      const { status, bytes, headers: said } = await raw(one(), requestHeaders);
      expect([status, bytes.length, said.get('vary')]).toEqual([304, 0, 'Accept-Encoding']);
      // The tag is that of the version that the caller holds, although the response would differ now.
      expect(said.get('etag')).toBe(String(tag));
    }
  expect((await raw(one(), { 'if-none-match': '"1-x"' })).status).toBe(200);
  for (const [version, tag] of tags.entries()) {
    const patch = (title: string, etag: string) => app.call('PATCH', one(), { title }, { 'if-match': etag });
    const now = tag.replace('"1-', `"${version + 1}-`);
    expect((await patch(`Title ${version}`, now)).status).toBe(200);
    expect([(await patch('x', now)).status, (await patch('x', tags[0]!)).status]).toEqual([412, 412]);
  }
});

test('the entity tag of a response with selected fields or expansions carries the version', async () => {
  for (const query of ['fields=title', 'fields=title&expand=assignee', 'expand=parent', 'fields=version']) {
    const sparse = await app.call('GET', `${one()}?${query}`);
    const { version } = (await app.call('GET', one())).json;
    expect([query, sparse.headers.get('etag')]).toEqual([
      query,
      expect.stringMatching(new RegExp(`^"${version}-`)),
    ]);
    const ifMatch = { 'if-match': sparse.headers.get('etag')! };
    const patched = await app.call('PATCH', one(), { estimate: version }, ifMatch);
    expect([query, patched.status]).toEqual([query, 200]);
    expect((await app.call('PATCH', one(), { estimate: 0 }, ifMatch)).status).toBe(412);
  }
  const sparse = await app.call('GET', `${one()}?fields=title`);
  expect(Object.keys(sparse.json)).toEqual(['id', 'title']);
  const { headers } = await app.call('GET', '/api/v1/issues?fields=title');
  expect(headers.get('etag')).toMatch(/^"h-/);
});

test('the OpenAPI document and its page are cached compressed, and answered with 304 to callers that have them', async () => {
  for (const path of ['/api/v1/openapi.json', '/docs', '/docs/viewer.js']) {
    const plain = await raw(path, {});
    for (const coding of ['gzip', 'zstd']) {
      const coded = await raw(path, { 'accept-encoding': coding });
      expect([path, coded.coding, coded.text === plain.text]).toEqual([path, coding, true]);
      expect(coded.headers.get('vary')).toContain('Accept-Encoding');
      expect(coded.headers.get('cache-control')).toMatch(/no-cache|max-age=86400/);
      const known = { 'accept-encoding': coding, 'if-none-match': coded.headers.get('etag')! };
      const again = await raw(path, known);
      expect([path, again.status, again.bytes.length]).toEqual([path, 304, 0]);
    }
  }
  const { bytes } = await raw('/api/v1/openapi.json', { 'accept-encoding': 'zstd' });
  const document = await raw('/api/v1/openapi.json', {});
  expect(bytes.length).toBeLessThan(document.bytes.length / 8);
});

const post = async (body: Uint8Array, headers: Record<string, string>): Promise<Json> => {
  const response = await fetch(`${app.url}/api/v1/issues`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${app.workspace.apiKey}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: new Uint8Array(body),
  });
  return { status: response.status, headers: response.headers, json: await response.json() };
};
const text = JSON.stringify({ team: 'ENG', title: 'Coded', description: 'é'.repeat(50_000) });

test('a compressed body is equal to its content, also for its idempotency key', async () => {
  const key = { 'idempotency-key': 'coded' };
  const first = await post(gzipSync(text), { 'content-encoding': 'gzip', ...key });
  expect(first.status).toBe(201);
  for (const [coding, body] of [
    ['GZIP', gzipSync(text, { level: 1 })],
    ['x-gzip', gzipSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['identity', Buffer.from(text)],
  ] as const) {
    const again = await post(body, { 'content-encoding': coding, ...key });
    expect([coding, again.status, again.json.id]).toEqual([coding, 201, first.json.id]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  }
  const other = await post(gzipSync(text.replace('Coded', 'Other')), { 'content-encoding': 'gzip', ...key });
  expect(other.json.error.code).toBe('idempotency_key_reused');
});

test('a body that decompresses beyond the limit is answered with 413 and costs no memory', async () => {
  const spaces = ' '.repeat(1024 * 1024);
  const bombs = [gzipSync(spaces.repeat(64)), zstdCompressSync(spaces.repeat(64)), gzipSync(`${spaces} `)];
  const exact = gzipSync(text.padEnd(1024 * 1024 - 50_000));
  expect((await post(exact, { 'content-encoding': 'gzip' })).status).toBe(201);
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  const answers = await Promise.all(
    Array.from({ length: 90 }, (_, n) =>
      post(bombs[n % 3]!, { 'content-encoding': n % 3 === 1 ? 'zstd' : 'gzip' }),
    ),
  );
  for (const { status, json } of answers)
    expect([status, json.error.code]).toEqual([413, 'payload_too_large']);
  // Decompressed they are 5.7 GB; leftovers of other tests in this process vary the value by about 100 MB.
  expect((process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(500);
});

test('a zstd body is decompressed to its last byte', async () => {
  const json = '{"team":"ENG","title":"Whole"}';
  const noise = Array.from(crypto.getRandomValues(new Uint8Array(300_000)), (byte) => ' \n\t\r'[byte % 4]);
  // Frames of one block and of several, with repeated bytes, and with size fields of every width.
  const texts = [json, json.padEnd(300), json.padEnd(300_000), json + noise.join('')];
  const all = [{}, { [constants.ZSTD_c_checksumFlag]: 1 }, { [constants.ZSTD_c_contentSizeFlag]: 0 }];
  const said = async (bytes: Uint8Array) => (await post(bytes, { 'content-encoding': 'zstd' })).status;
  for (const inner of texts)
    for (const params of all) {
      const coded = zstdCompressSync(inner, { params });
      expect([inner.length, params, await said(coded)]).toEqual([inner.length, params, 201]);
      for (const broken of [
        ...[1, 4, 7].map((less) => coded.subarray(0, -less)),
        Buffer.concat([coded, Buffer.of(0)]),
        Buffer.concat([coded, coded.subarray(0, -1)]),
      ])
        expect([inner.length, params, await said(broken)]).toEqual([inner.length, params, 400]);
    }
  // Several frames form one stream, and skippable frames are ignored.
  const coded = zstdCompressSync(json);
  const skipped = Buffer.from('502a4d1803000000010203', 'hex');
  const halves = [json.slice(0, 9), json.slice(9)].map((part) => zstdCompressSync(part));
  for (const parts of [halves, [skipped, coded], [coded, skipped]])
    expect(await said(Buffer.concat(parts))).toBe(201);
  for (const parts of [[skipped], [coded, skipped.subarray(0, 6)], [coded, skipped.subarray(0, -1)]])
    expect(await said(Buffer.concat(parts))).toBe(400);
});

test('a corrupt body or an unsupported coding is refused with an instruction', async () => {
  const wide = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: 27 } });
  wide.write(text);
  wide.end();
  const widely = Buffer.concat(await Array.fromAsync(wide as AsyncIterable<Buffer>));
  for (const [coding, body] of [
    ['gzip', Buffer.from(text)],
    ['gzip', gzipSync(text).subarray(0, 60)],
    ['gzip', gzipSync(gzipSync(text))],
    ['gzip', new Uint8Array()],
    ['zstd', Buffer.from(text)],
    ['zstd', zstdCompressSync(text).subarray(0, 30)],
    ['zstd', widely],
  ] as const) {
    const { status, json } = await post(body, { 'content-encoding': coding });
    expect([coding, body.length, status, json.error.code]).toEqual([
      coding,
      body.length,
      400,
      'malformed_request',
    ]);
  }
  for (const coding of ['br', 'deflate', 'gzip, gzip', 'compress']) {
    const { status, headers, json } = await post(gzipSync(text), { 'content-encoding': coding });
    expect([coding, status, headers.get('accept-encoding')]).toEqual([coding, 415, 'gzip, zstd']);
    expect(json.error.message).toContain('gzip or zstd');
  }
});
