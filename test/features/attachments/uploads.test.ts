import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type Reply, type TestApp } from '../../app.ts';
import { incoming, startUpload, until, type Drip } from '../../slow-upload.ts';

let app: TestApp;
let issue: Json;
const kib = 1024;
const slots = 16;

beforeAll(async () => {
  app = await startApp();
  issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'With files' })).json;
});
afterAll(() => app.stop());

async function fill(count: number, of: Partial<Parameters<typeof startUpload>[1]> = {}): Promise<Drip[]> {
  const before = incoming(app).length;
  const drips = Array.from({ length: count }, () => startUpload(app, { to: issue.id, ...of }));
  for (const drip of drips) drip.send(1);
  await until(() => incoming(app).filter((size) => size > 0).length === before + count);
  return drips;
}
async function finish(drips: readonly Drip[]): Promise<number[]> {
  for (const drip of drips) drip.end();
  return Promise.all(drips.map(async ({ answer }) => (await answer).status));
}
async function sendWhole(of: Partial<Parameters<typeof startUpload>[1]> = {}): Promise<Reply> {
  const drip = startUpload(app, { to: issue.id, ...of });
  drip.send(3);
  drip.end();
  return drip.answer;
}

test('a member who uses up all upload slots leaves slots to other members and other workspaces', async () => {
  const other = await app.addWorkspace('Other', 'OTH');
  const theirs = (await app.clientOf(other.apiKey)('POST', '/api/v1/issues', { team: 'OTH', title: 'x' }))
    .json;
  const secondKey = await app.mintKey(['attachments:write', 'issues:read']);
  const drips = await fill(slots);
  const refused = await sendWhole({ key: secondKey });
  expect([refused.status, refused.json.error.code, refused.headers.get('retry-after')]).toEqual([
    429,
    'rate_limited',
    '1',
  ]);
  expect((await sendWhole({ to: theirs.id, key: other.apiKey })).status).toBe(201);
  expect(await finish(drips)).toEqual(Array.from({ length: slots }, () => 201));
  expect((await sendWhole({ key: secondKey })).status).toBe(201);
});

test('an upload below 1 KiB/s over 10 s ends with 408 and leaves nothing', async () => {
  const from = await app.lastSequence();
  for (const bytesPerSecond of [0, 1, 64]) {
    const [drip] = await fill(1);
    let ended: Reply | null = null;
    void drip!.answer.then((reply) => (ended = reply));
    let received = 1;
    let seconds = 0;
    for (; !ended; seconds++) {
      if (bytesPerSecond > 0) drip!.send(bytesPerSecond);
      received += bytesPerSecond;
      await until(() => ended !== null || incoming(app)[0] === received);
      app.clock.advance(1_000);
    }
    // A second in which the busy server does not read does not count.
    expect(seconds * bytesPerSecond).toBeLessThan(10 * kib);
    const { status, json, headers } = await drip!.answer;
    expect([bytesPerSecond, status, json.error.code]).toEqual([bytesPerSecond, 408, 'request_timeout']);
    expect(headers.get('connection')).toBe('close');
    expect(headers.has('retry-after')).toBe(false);
    await until(() => incoming(app).length === 0);
  }
  expect(await app.lastSequence()).toBe(from);
});

test('a steady upload of 25 MB at 16 KiB/s succeeds', async () => {
  const [drip] = await fill(1);
  const pieces = Math.ceil(25_000_000 / (16 * kib));
  for (let sent = 1; sent <= pieces; sent++) {
    drip!.send(16 * kib);
    await until(() => incoming(app)[0] === 1 + sent * 16 * kib);
    app.clock.advance(1_000);
  }
  drip!.end();
  const { status, json } = await drip!.answer;
  expect([status, json.bytes]).toEqual([201, 1 + pieces * 16 * kib]);
});
