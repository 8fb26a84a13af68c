import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createHousekeeping } from '../../../core/app/housekeeping/housekeeping.ts';
import { digestIn } from '../../../core/platform/store/files/blobs.ts';
import { startApp, type Json, type Reply, type TestApp } from '../../app.ts';

let app: TestApp;
let issue: Json;
const hourMs = 3_600_000;
const mib = 1024 * 1024;

beforeAll(async () => {
  app = await startApp({ flags: { fileSize: '1', fileQuota: '3' } });
  issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'With files' })).json;
});
afterAll(() => app.stop());

interface Sending {
  readonly to?: string;
  readonly name?: string;
  readonly headers?: Record<string, string>;
  readonly key?: string;
}

async function upload(
  content: string | Uint8Array<ArrayBuffer> | ReadableStream,
  sending: Sending = {},
): Promise<Reply> {
  const { to = issue.id, name = 'a.txt', headers = {}, key = app.workspace.apiKey } = sending;
  const query = new URLSearchParams({ name });
  const response = await fetch(`${app.url}/api/v1/issues/${to}/attachments/upload?${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'text/plain', ...headers },
    body: content,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Json };
}
const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const pathOf = (sum: string): string => app.services.blobs.pathOf(digestIn(sum)!);
const remove = (one: Json): Promise<Reply> => app.call('DELETE', `/api/v1/attachments/${one.id}`);
const used = async (): Promise<number> => {
  const { json } = await app.call('GET', `/api/v1/issues/${issue.id}/attachments?limit=100`);
  return json.data.reduce((sum: number, { bytes }: Json) => sum + (bytes ?? 0), 0);
};
const fill = (bytes: number, seed: number): Uint8Array<ArrayBuffer> => new Uint8Array(bytes).fill(seed);
const incoming = (): string[] => readdirSync(join(app.dataDir, 'blobs/incoming'));
async function sweep(): Promise<void> {
  const { store, log, blobs } = app.services;
  const retention = {
    runs: 14,
    recordings: 14,
    undo: 30,
    deliveries: 30,
    deleted: 90,
    events: null,
    snapshots: 90,
  };
  const snapshots = join(app.dataDir, 'snapshots');
  await createHousekeeping({ store, log, clock: app.clock, retention, blobs, snapshots }).sweep();
}

test('a link is attached, listed and deleted, with an event on the issue', async () => {
  const from = await app.lastSequence();
  const path = `/api/v1/issues/${issue.identifier}/attachments`;
  const link = { title: 'Report', url: 'https://example.com/7' };
  const { status, json } = await app.call('POST', path, link);
  expect([status, json]).toEqual([
    201,
    expect.objectContaining({
      ...link,
      kind: 'link',
      bytes: null,
      issue: { id: issue.id, identifier: 'ENG-1' },
    }),
  ]);
  expect((await app.call('GET', path)).json.data).toEqual([json]);
  expect((await remove(json)).status).toBe(204);
  expect((await app.call('GET', `/api/v1/attachments/${json.id}`)).status).toBe(404);
  const { json: events } = await app.call('GET', `/api/v1/events?after=${from}`);
  expect(events.data.map(({ type, data }: Json) => [type, data.identifier, data.attachment.title])).toEqual([
    ['issue.attachment_added', 'ENG-1', 'Report'],
    ['issue.attachment_removed', 'ENG-1', 'Report'],
  ]);
  for (const url of ['javascript:alert(1)', 'ftp://a.example', 'https://', null])
    expect([url, (await app.call('POST', path, { title: 'x', url })).status]).toEqual([url, 422]);
});

test('a file is returned byte for byte by GET and HEAD, and browsers only download it', async () => {
  const { status, json } = await upload('hello\n', { name: 'notes.txt' });
  expect([status, json]).toEqual([
    201,
    expect.objectContaining({
      kind: 'file',
      title: 'notes.txt',
      url: null,
      contentType: 'text/plain',
      bytes: 6,
      sha256: sha256('hello\n'),
    }),
  ]);
  for (const method of ['GET', 'HEAD']) {
    const got = await app.call(method, `/api/v1/attachments/${json.id}/content`);
    const header = (name: string): string | null => got.headers.get(name);
    expect([method, got.status, got.text]).toEqual([method, 200, method === 'GET' ? 'hello\n' : '']);
    expect(header('content-length')).toBe('6');
    expect(header('content-type')).toBe('text/plain; charset=utf-8');
    expect(header('content-disposition')).toBe(
      `attachment; filename="notes.txt"; filename*=UTF-8''notes.txt`,
    );
    expect(header('x-content-type-options')).toBe('nosniff');
    expect(header('content-security-policy')).toContain('sandbox');
  }
  await remove(json);
  expect((await app.call('GET', `/api/v1/attachments/${json.id}/content`)).status).toBe(404);
});

describe('a file in ranges', () => {
  const content = '0123456789';
  const etag = `"${sha256(content)}"`;
  let at: string;
  const get = (headers: Record<string, string>, method = 'GET'): Promise<Reply> =>
    app.call(method, at, undefined, headers);
  const expectSafe = ({ headers }: Reply): void => {
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('content-disposition')).toStartWith('attachment; ');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect([headers.get('etag'), headers.get('accept-ranges')]).toEqual([etag, 'bytes']);
  };
  beforeAll(async () => {
    at = `/api/v1/attachments/${(await upload(content)).json.id}/content`;
  });

  afterAll(async () => {
    for (const one of (await app.call('GET', `/api/v1/issues/${issue.id}/attachments`)).json.data)
      await remove(one);
  });

  test('a satisfiable range gets a 206 with its bytes, in every notation', async () => {
    const rows = {
      'bytes=0-3': ['0123', 'bytes 0-3/10'],
      'bytes=4-': ['456789', 'bytes 4-9/10'],
      'bytes=-2': ['89', 'bytes 8-9/10'],
      'bytes=-20': [content, 'bytes 0-9/10'],
      'Bytes=9-400': ['9', 'bytes 9-9/10'],
    };
    for (const [range, [text, contentRange]] of Object.entries(rows)) {
      const reply = await get({ range });
      const { headers } = reply;
      expect([range, reply.status, reply.text, headers.get('content-range')]).toEqual([
        ...[range, 206, text!, contentRange!],
      ]);
      expect(headers.get('content-length')).toBe(String(text!.length));
      expectSafe(reply);
    }
  });

  test('a missing, multiple or unknown range gets the whole file', async () => {
    const requested = [undefined, 'bytes=0-1,4-5', 'items=0-1', 'bytes=5-2', 'bytes=-', 'bytes=x-2'];
    for (const range of requested) {
      const reply = await get(range === undefined ? {} : { range });
      expect([range, reply.status, reply.text]).toEqual([range, 200, content]);
      expect(reply.headers.get('content-length')).toBe('10');
      expectSafe(reply);
    }
    const head = await get({ range: 'bytes=0-3' }, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '10']);
    expectSafe(head);
  });

  test('a range beyond the end gets a 416 error with the length', async () => {
    const from = await app.lastSequence();
    for (const range of ['bytes=10-', 'bytes=200-300', 'bytes=-0']) {
      const { status, json, headers } = await get({ range });
      expect([range, status, json.error.code]).toEqual([range, 416, 'range_not_satisfiable']);
      expect([headers.get('content-range'), headers.get('content-type')]).toEqual([
        'bytes */10',
        'application/json',
      ]);
      expect(json.error.requestId).toBe(headers.get('x-request-id'));
    }
    expect(await app.lastSequence()).toBe(from);
  });

  test('If-Range gets a part of the same file, and the whole of another', async () => {
    const range = 'bytes=2-3';
    const same = await get({ range, 'if-range': etag });
    expect([same.status, same.text]).toEqual([206, '23']);
    for (const other of ['"other"', `W/${etag}`, 'Wed, 21 Oct 2026 07:28:00 GMT']) {
      for (const requested of [range, 'bytes=200-300']) {
        const whole = await get({ range: requested, 'if-range': other });
        expect([other, whole.status, whole.text]).toEqual([other, 200, content]);
        expectSafe(whole);
      }
    }
  });

  test('If-None-Match gets a 304 for the same file, also with a range', async () => {
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*'])
      for (const more of [{}, { range: 'bytes=0-3' }]) {
        const { status, text, headers } = await get({ 'if-none-match': known, ...more });
        expect([known, status, text, headers.get('etag')]).toEqual([known, 304, '', etag]);
      }
    expect((await get({ 'if-none-match': '"x"', range: 'bytes=0-3' })).status).toBe(206);
  });

  test('an empty file has no ranges', async () => {
    const { id } = (await upload('')).json;
    const path = `/api/v1/attachments/${id}/content`;
    const refused = await app.call('GET', path, undefined, { range: 'bytes=0-3' });
    expect([refused.status, refused.headers.get('content-range')]).toEqual([416, 'bytes */0']);
    const whole = await app.call('GET', path);
    expect([whole.status, whole.text]).toEqual([200, '']);
  });

  test('every response is declared in the OpenAPI document, with its headers', async () => {
    const { paths, components } = (await app.call('GET', '/api/v1/openapi.json')).json;
    const { parameters, responses } = paths['/api/v1/attachments/{id}/content'].get;
    const follow = (part: Json): Json =>
      part.$ref
        .split('/')
        .slice(2)
        .reduce((at: Json, step: string) => at[step], components);
    const taken = parameters.flatMap((one: Json) => ('$ref' in one ? [follow(one).name] : []));
    expect(taken).toEqual(['If-None-Match', 'Range', 'If-Range']);
    const headersOf = (status: number): string[] => {
      const { $ref, headers } = responses[status];
      return Object.keys($ref ? follow(responses[status]).headers : headers);
    };
    expect(headersOf(200)).toEqual(expect.arrayContaining(['ETag', 'Accept-Ranges']));
    expect(headersOf(206)).toEqual(expect.arrayContaining(['ETag', 'Accept-Ranges', 'Content-Range']));
    expect(headersOf(304)).toContain('ETag');
    expect(headersOf(416)).toContain('Content-Range');
  });
});

test('hostile names and types are neutralized', async () => {
  for (const [input, title] of [
    ['../../etc/passwd', 'passwd'],
    ['C:\\Windows\\system.ini', 'system.ini'],
    ['a"; x="b\r\nSet-Cookie: a=b', 'a"; x="bSet-Cookie: a=b'],
    ['photo\u202egpj.exe', 'photogpj.exe'],
    ['..', 'file'],
    ['Ärger 100%.txt', 'Ärger 100%.txt'],
    ['x'.repeat(900), 'x'.repeat(255)],
  ] as const) {
    const { status, json } = await upload('x', { name: input });
    expect([input, status, json.title]).toEqual([input, 201, title]);
    const { headers } = await app.call('GET', `/api/v1/attachments/${json.id}/content`);
    const disposition = headers.get('content-disposition')!;
    expect(disposition).toMatch(/^attachment; filename="[^"\\]*"; filename\*=UTF-8''[\w.!~%+-]*$/);
    expect(decodeURIComponent(disposition.split("''")[1]!)).toBe(title);
    expect(headers.get('set-cookie')).toBeNull();
    await remove(json);
  }
  for (const [input, served] of [
    ['text/html', 'application/octet-stream'],
    ['image/svg+xml', 'application/octet-stream'],
    ['application/javascript', 'application/octet-stream'],
    ['image/PNG; x=y', 'image/png'],
    ['not a type', 'application/octet-stream'],
  ] as const) {
    const { json } = await upload('<script>alert(1)</script>', { headers: { 'content-type': input } });
    const { headers } = await app.call('GET', `/api/v1/attachments/${json.id}/content`);
    expect([input, headers.get('content-type')]).toEqual([input, served]);
    await remove(json);
  }
});

test('an oversized, multi-line, nameless or unassigned file is rejected and leaves nothing', async () => {
  const before = await app.lastSequence();
  const large = fill(mib + 1, 1);
  expect((await upload(large)).status).toBe(413);
  const unannounced = new ReadableStream({
    start(controller) {
      for (let n = 0; n < 5; n++) controller.enqueue(fill(mib / 4, n));
      controller.close();
    },
  });
  expect((await upload(unannounced)).status).toBe(413);
  expect((await upload('x', { headers: { 'content-encoding': 'gzip' } })).status).toBe(415);
  const form = await upload('x', { headers: { 'content-type': 'multipart/form-data; boundary=x' } });
  expect(form.status).toBe(415);
  expect(form.json.error.message).toContain('--data-binary @FILE instead of -F');
  expect((await upload('x', { name: 'x'.repeat(1_001) })).status).toBe(422);
  expect((await upload('x', { to: `iss_${'0'.repeat(26)}` })).status).toBe(404);
  expect((await upload('never', { headers: { 'tatami-mode': 'simulate' } })).status).toBe(201);
  expect(existsSync(pathOf(sha256('never')))).toBe(false);
  expect(incoming()).toEqual([]);
  expect(await app.lastSequence()).toBe(before);
});

test('the quota holds under concurrent uploads, and a deletion frees its bytes', async () => {
  expect(await used()).toBe(0);
  const sent = await Promise.all([1, 2, 3, 4, 5, 6].map((seed) => upload(fill(mib, seed))));
  const codes = sent.map(({ status, json }) => json.error?.code ?? status).toSorted();
  expect(codes).toEqual([201, 201, 201, 'budget_exceeded', 'budget_exceeded', 'budget_exceeded']);
  expect(await used()).toBe(3 * mib);
  expect((await upload('one more')).json.error.code).toBe('budget_exceeded');
  const [first, ...others] = sent.filter(({ status }) => status === 201).map(({ json }) => json);
  // Two concurrent deletions free the bytes once.
  await Promise.all([remove(first), remove(first)]);
  const again = await Promise.all([upload(fill(mib, 7)), upload(fill(mib, 8))]);
  expect(again.map(({ status }) => status).toSorted()).toEqual([201, 422]);
  for (const one of [...others, ...again.map(({ json }) => json)]) if (one.id) await remove(one);
  expect((await upload(fill(mib, 9))).status).toBe(201);
  for (const one of (await app.call('GET', `/api/v1/issues/${issue.id}/attachments`)).json.data)
    await remove(one);
});

test('a repeated upload with its idempotency key is done once, and another file or parameter under the key is rejected', async () => {
  const headers = { 'idempotency-key': 'once' };
  const first = await upload('once', { headers });
  const second = await upload('once', { headers });
  expect([second.status, second.json.id]).toEqual([201, first.json.id]);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  const from = await app.lastSequence();
  for (const [content, name] of [
    ['twice', 'a.txt'],
    ['once', 'b.txt'],
  ] as const) {
    const other = await upload(content, { name, headers });
    expect([name, other.status, other.json.error?.code]).toEqual([name, 422, 'idempotency_key_reused']);
  }
  expect(await app.lastSequence()).toBe(from);
  await remove(first.json);
});

test('identical content is stored once, and no workspace learns that another has it', async () => {
  const other = await app.addWorkspace('Other', 'OTH');
  const call = app.clientOf(other.apiKey);
  const theirs = (await call('POST', '/api/v1/issues', { team: 'OTH', title: 'x' })).json;
  const mine = (await upload('shared secret')).json;
  const fresh = await upload('not shared', { to: theirs.id, key: other.apiKey });
  const same = await upload('shared secret', { to: theirs.id, key: other.apiKey });
  const shapeOf = ({ status, json, headers }: Reply): unknown => [
    status,
    Object.keys(json),
    [...headers.keys()].toSorted(),
    json.version,
  ];
  expect(shapeOf(same)).toEqual(shapeOf(fresh));
  const folder = dirname(pathOf(mine.sha256));
  expect(readdirSync(folder).filter((name) => name === mine.sha256)).toEqual([mine.sha256]);
  expect((await call('GET', `/api/v1/attachments/${mine.id}/content`)).status).toBe(404);
  expect((await upload('x', { to: issue.id, key: other.apiKey })).status).toBe(404);
  // One workspace deletes its attachment, and the other retains its own.
  await call('DELETE', `/api/v1/attachments/${same.json.id}`);
  await sweep();
  app.clock.advance(2 * hourMs);
  await sweep();
  expect((await app.call('GET', `/api/v1/attachments/${mine.id}/content`)).text).toBe('shared secret');
  await remove(mine);
});

test('unreferenced content is deleted after an hour: of deleted and purged attachments and interrupted uploads', async () => {
  const deleted = (await upload('deleted')).json;
  const doomed = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'doomed' })).json;
  const purged = (await upload('purged', { to: doomed.id })).json;
  // The state after a crash between the file and its row.
  const orphan = pathOf(sha256('orphan'));
  mkdirSync(dirname(orphan), { recursive: true });
  writeFileSync(orphan, 'orphan');
  await remove(deleted);
  await app.call('DELETE', `/api/v1/issues/${doomed.id}`);
  await sweep();
  app.clock.advance(2 * hourMs);
  await sweep();
  expect([pathOf(deleted.sha256), orphan].map((path) => existsSync(path))).toEqual([false, false]);
  // A deleted issue can be restored with its attachments.
  expect(existsSync(pathOf(purged.sha256))).toBe(true);
  expect((await app.call('POST', `/api/v1/issues/${doomed.id}/purge`)).status).toBe(204);
  await sweep();
  // A repeated upload references the content again.
  const again = (await upload('purged')).json;
  app.clock.advance(2 * hourMs);
  await sweep();
  expect((await app.call('GET', `/api/v1/attachments/${again.id}/content`)).text).toBe('purged');
  await remove(again);
});

test('the remains of an interrupted upload are deleted at the next start', async () => {
  writeFileSync(join(app.dataDir, 'blobs/incoming/half'), 'half of it');
  app = await app.restart();
  expect(existsSync(join(app.dataDir, 'blobs/incoming/half'))).toBe(false);
  expect((await upload('after the start')).status).toBe(201);
});
