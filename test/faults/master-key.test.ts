// Rotation of the master key loses no secret: before, after, and with a kill at any step.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rotateMasterKey } from '../../core/app/setup/rotate-master-key.ts';
import { createClock, startApp, type Json } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import {
  hooksOf,
  startReceiver,
  type Hooks,
  type Received,
  type Receiver,
} from '../features/webhooks/receiver.ts';
import { stripeVerifier } from '../features/webhooks/stripe.ts';
import { hasStrace, underFault } from './strace.ts';

const stripe = await stripeVerifier();
const flags = { egressAllow: '127.0.0.0/8' };
const dataDir = mkdtempSync(join(tmpdir(), 'tatami-master-key-'));
let hooks: Hooks;
let receiver: Receiver;
let endpoint: Json;

beforeAll(async () => {
  receiver = startReceiver();
  hooks = hooksOf(await startApp({ clock: createClock(), dataDir, flags }));
  endpoint = await hooks.register(`${receiver.url}?token=hidden`, { events: ['issue.created'] });
});
afterAll(async () => {
  await hooks.app.stop();
  await receiver.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Interval of the calls at which the process is killed. */
const calls = process.env.TATAMI_LONG
  ? ([
      ['fsync', 1],
      ['fdatasync', 1],
      ['rename', 1],
    ] as const)
  : ([
      ['fsync', 4],
      ['rename', 2],
    ] as const);

const keyOf = (dir: string): string => readFileSync(join(dir, 'master.key'), 'utf8');

/** Creates an issue; the receiver's delivery must match the endpoint's secret and its complete address. */
async function expectDelivery({ app }: { app: Hooks['app'] }): Promise<void> {
  receiver.received.length = 0;
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'One' });
  await app.settled();
  const [got] = receiver.received as [Received];
  stripe.constructEvent(
    got.body,
    got.headers.get('x-webhook-signature')!,
    endpoint.secret,
    300,
    undefined,
    app.clock.now(),
  );
}

/** Runs between two servers on the same data. */
async function between(work: (dir: string, nowMs: number) => Promise<void>): Promise<void> {
  const { clock, dataDir, workspace } = hooks.app;
  await hooks.app.stop();
  await work(dataDir, clock.now());
  hooks = hooksOf(await startApp({ clock, dataDir, flags }, workspace));
}

test('after a rotation the same secrets sign, and the old key is preserved beside the new one', async () => {
  const secretOnce = await hooks.app.call(
    'POST',
    '/api/v1/api-keys',
    { name: 'again', scopes: ['issues:read'] },
    { 'idempotency-key': 'one' },
  );
  const filed = await hooks.app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Wait' });
  const proposed = await hooks.app.call(
    'PATCH',
    `/api/v1/issues/${filed.json.id}`,
    { priority: 'high' },
    { 'tatami-mode': 'propose' },
  );
  let before = '';
  await between(async (dir, nowMs) => {
    before = keyOf(dir);
    const rotated = await rotateMasterKey(dir, () => nowMs);
    expect(keyOf(dir)).not.toBe(before);
    expect(readFileSync(rotated.oldKeyFile, 'utf8')).toBe(before);
    // The address and the secret of the endpoint, a response, a proposal.
    expect(rotated.resealed).toBe(4);
  });
  await expectDelivery(hooks);
  const again = await hooks.app.call(
    'POST',
    '/api/v1/api-keys',
    { name: 'again', scopes: ['issues:read'] },
    { 'idempotency-key': 'one' },
  );
  expect(again.json).toEqual(secretOnce.json);
  // A rerun opens the stored request of the proposal.
  const rerun = await hooks.app.call('POST', `/api/v1/proposals/${proposed.json.id}/rerun`);
  expect([rerun.status, rerun.json.revision]).toEqual([200, 2]);
});

test('the signing secret and the address of a plugin’s route are unchanged under a new key', async () => {
  const { id } = await install(
    hooks.app.call,
    await packSource(`{
      id: 'com.test.hooked', version: '1.0.0', engines: { tatami: '*' },
      routes: { hook: { method: 'POST', auth: 'hmac', handle: ({ body }) => ({ status: 201, body }) } },
    }`),
  );
  const routes = `/api/v1/plugins/${id}/routes`;
  const { url, secret } = (await hooks.app.call('POST', `${routes}/hook/open`)).json;
  await between(async (dir, nowMs) => void (await rotateMasterKey(dir, () => nowMs)));
  const [listed] = (await hooks.app.call('GET', routes)).json.data;
  // The server has another port; the rest of the address is unchanged.
  expect(new URL(listed.url).pathname).toBe(new URL(url).pathname);
  const seconds = Math.floor(hooks.app.clock.now() / 1000);
  const digest = createHmac('sha256', secret).update(`${seconds}.{}`).digest('hex');
  const answer = await fetch(listed.url, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json', 'x-webhook-signature': `v1=${digest},t=${seconds}` },
  });
  expect([answer.status, await answer.text()]).toEqual([201, '{}']);
  await hooks.app.call('DELETE', `/api/v1/plugins/${id}`);
});

test('the earlier key is rejected from then on, with its fingerprint', async () => {
  await between(async (dir, nowMs) => {
    const { oldKeyFile } = await rotateMasterKey(dir, () => nowMs);
    const now = keyOf(dir);
    writeFileSync(join(dir, 'master.key'), readFileSync(oldKeyFile));
    const refused: unknown = await rotateMasterKey(dir, () => nowMs).catch((error: unknown) => error);
    expect(String(refused)).toContain('is not the key of this database: its fingerprint is');
    writeFileSync(join(dir, 'master.key'), now);
  });
});

test.skipIf(!hasStrace)(
  'after a kill at any step, the next start has the right key (needs strace)',
  async () => {
    const kills: string[] = [];
    for (const [call, step] of calls)
      for (let when = 1, killed = true; killed; when += step) {
        await between(async (dir, nowMs) => {
          const files = ['master.key', 'master.key.next', 'log-head', 'tatami.db', 'tatami.db-wal', ''];
          const paths = call === 'rename' ? [] : files.map((name) => join(dir, name));
          const command = [process.execPath, join(import.meta.dir, 'rotate-process.ts'), dir, String(nowMs)];
          const child = Bun.spawn(underFault(`${call}:signal=SIGKILL:when=${when}`, paths, command), {
            stdout: 'ignore',
            stderr: 'ignore',
          });
          killed = (await child.exited) !== 0;
        });
        if (killed) kills.push(`${call} ${when}`);
        await expectDelivery(hooks);
        expect(existsSync(join(hooks.app.dataDir, 'master.key.next')), kills.join()).toBe(false);
      }
    expect(kills.some((kill) => kill.startsWith('rename'))).toBe(true);
    expect(kills.some((kill) => kill.startsWith('fsync'))).toBe(true);
  },
  120_000,
);
