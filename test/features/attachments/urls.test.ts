// Signed URLs of files: their content, headers, ranges and limits. The attacks are in `test/attacks/file-urls.test.ts`.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { images, open, signedPath, upload, type SentFile } from './files.ts';

let app: TestApp;
let issue: Json;

beforeAll(async () => {
  app = await startApp();
  issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'With files' })).json;
});
afterAll(() => app.stop());

const pathTo = async (file: SentFile): Promise<string> =>
  signedPath(app.call, await upload(app, issue.id, file));

test('the URL of a file works without a token, for at most five minutes', async () => {
  const { id } = await upload(app, issue.id, {
    content: 'hello',
    name: 'notes.txt',
    contentType: 'text/plain',
  });
  const { json, status } = await app.call('GET', `/api/v1/attachments/${id}/url`);
  const leftMs = Date.parse(json.expiresAt) - app.clock.now();
  expect([status, leftMs > 4 * 60_000, leftMs <= 5 * 60_000]).toEqual([200, true, true]);
  expect(json.url).toStartWith(`${app.services.baseUrl}/files/`);
  const { pathname } = new URL(json.url);
  const got = await open(app, pathname);
  expect([got.status, got.text]).toEqual([200, 'hello']);
  const head = await app.clientOf(null)('HEAD', pathname);
  expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '5']);
});

test('requests of one minute get the same URL, so that a browser finds the image in its cache', async () => {
  const file = await upload(app, issue.id, { content: 'x' });
  const first = await signedPath(app.call, file);
  app.clock.advance(59_000 - (app.clock.now() % 60_000));
  expect(await signedPath(app.call, file)).toBe(first);
  app.clock.advance(1_000);
  expect(await signedPath(app.call, file)).not.toBe(first);
});

test('every response forbids scripts, sniffing, referrers, shared caches and use by other sites', async () => {
  for (const content of [images['image/png']!, '<script>alert(1)</script>']) {
    const { headers } = await open(app, await pathTo({ content }));
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; sandbox");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.has('access-control-allow-origin')).toBe(false);
  }
});

test('an image is shown inline by its bytes, whatever type and name it was uploaded with', async () => {
  for (const [type, content] of Object.entries(images)) {
    const { headers } = await open(app, await pathTo({ content, name: 'a.html', contentType: 'text/html' }));
    expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      type,
      `inline; filename="a.html"; filename*=UTF-8''a.html`,
    ]);
  }
});

test('any other file is a download, even if its name and type are those of an image', async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const rows: readonly (readonly [content: string, uploaded: string, served: string])[] = [
    [svg, 'image/svg+xml', 'application/octet-stream'],
    [svg, 'image/png', 'application/octet-stream'],
    ['<!doctype html><script>alert(1)</script>', 'image/gif', 'application/octet-stream'],
    ['<!doctype html>', 'text/html', 'application/octet-stream'],
    ['%PDF-1.7', 'application/pdf', 'application/pdf'],
    ['GIF88a', 'image/gif', 'application/octet-stream'],
    [` ${images['image/gif']}`, 'image/gif', 'application/octet-stream'],
    ['\x89PNG\r\n\x1a\n<html>', 'image/png', 'application/octet-stream'],
    ['RIFF\x10\0\0\0WAVEfmt ', 'image/webp', 'application/octet-stream'],
    ['\0\0\0\x14ftypisom\0\0\0\0isomavif', 'image/avif', 'application/octet-stream'],
    ['', 'image/png', 'application/octet-stream'],
    ['a,b', 'text/csv', 'text/csv'],
  ];
  for (const [content, contentType, served] of rows) {
    const { status, headers } = await open(app, await pathTo({ content, name: 'photo.png', contentType }));
    expect([content, status, headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      content,
      200,
      served,
      `attachment; filename="photo.png"; filename*=UTF-8''photo.png`,
    ]);
  }
});

test('an image that is a program as well is served as an image only', async () => {
  const { headers } = await open(
    app,
    await pathTo({ content: 'GIF89a/*<svg onload=alert(1)>*/=1;alert(1)', contentType: 'text/javascript' }),
  );
  expect([headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
    'image/gif',
    'nosniff',
  ]);
  expect(headers.get('content-security-policy')).toContain('sandbox');
});

test('ranges, conditions and errors of ranges work as at the content route', async () => {
  const content = `${images['image/png']}0123456789`;
  const size = content.length;
  const etag = `"${createHash('sha256').update(Buffer.from(content, 'latin1')).digest('hex')}"`;
  const path = await pathTo({ content });
  const get = async (headers: Record<string, string>) => {
    const { status, text, headers: sent } = await open(app, path, headers);
    return [status, text.slice(-10), sent.get('content-range')];
  };
  const { headers } = await open(app, path);
  expect([headers.get('accept-ranges'), headers.get('etag')]).toEqual(['bytes', etag]);
  expect(await get({ range: 'bytes=-4' })).toEqual([206, '6789', `bytes ${size - 4}-${size - 1}/${size}`]);
  expect(await get({ range: `bytes=${size - 10}-${size - 8}` })).toEqual([
    206,
    '012',
    `bytes ${size - 10}-${size - 8}/${size}`,
  ]);
  const [tooFar, , ofNothing] = await get({ range: `bytes=${size}-` });
  expect([tooFar, ofNothing]).toEqual([416, `bytes */${size}`]);
  expect(await get({ range: 'bytes=-4', 'if-range': etag })).toEqual([
    206,
    '6789',
    `bytes ${size - 4}-${size - 1}/${size}`,
  ]);
  expect((await get({ range: 'bytes=-4', 'if-range': '"other"' })).slice(0, 2)).toEqual([200, '0123456789']);
  expect((await get({ 'if-none-match': etag }))[0]).toBe(304);
});

test('a large file is streamed: the server does not hold its bytes', async () => {
  const size = 24 * 1024 * 1024;
  const path = await pathTo({ content: 'x'.repeat(size) });
  Bun.gc(true);
  const before = process.memoryUsage();
  const streams = await Promise.all(Array.from({ length: 8 }, () => fetch(app.url + path)));
  const after = process.memoryUsage();
  expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(size);
  for (const { body } of streams) await body?.cancel();
  const end = await open(app, path, { range: `bytes=${size - 3}-` });
  expect([end.status, end.text]).toEqual([206, 'xxx']);
});

test('a link has no URL of its content, and neither has an unknown attachment', async () => {
  const link = { title: 'Report', url: 'https://example.com/7' };
  const { json } = await app.call('POST', `/api/v1/issues/${issue.id}/attachments`, link);
  for (const id of [json.id, `att_${'0'.repeat(26)}`])
    expect((await app.call('GET', `/api/v1/attachments/${id}/url`)).status).toBe(404);
});

test('a URL needs the scope of attachments', async () => {
  const { id } = await upload(app, issue.id, { content: 'x' });
  const other = app.clientOf(await app.mintKey(['issues:read']));
  expect((await other('GET', `/api/v1/attachments/${id}/url`)).json.error.code).toBe('insufficient_scope');
});
