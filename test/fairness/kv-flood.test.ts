// Long calls of a plugin on its stored values delay no other client. The test measures latency, so this file runs
// alone.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Staging, stagedCharsMax } from '../../core/kernel/changes/staging.ts';
import { FairQuota } from '../../core/platform/lib/fairness/fair-quota.ts';
import { createCallQueue } from '../../core/features/plugins/host-calls/bridge.ts';
import { ownValues } from '../../core/features/plugins/kv/own.ts';
import type { CallAnswer } from '../../core/platform/sandbox/supervisor.ts';
import { scopeOf } from '../../core/platform/store/store.ts';
import { startApp, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { watchSlowness } from '../slow-machine.ts';
import { feel } from './flood.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

/** The core's side of a run's calls, without a guest that would enforce its own limits. */
function callsOf(installId: string) {
  const { store, ledger } = app.services;
  const scope = scopeOf(app.workspace.workspaceId, installId);
  const staged = new Staging(new FairQuota(stagedCharsMax), scope.workspaceId, installId);
  const values = ownValues({ store, nowMs: app.clock.nowMs, scope, installId, staged });
  const perform = createCallQueue({ ledger }).ofRun(scope, installId, 'event');
  return (args: string): Promise<CallAnswer> =>
    perform('kv.compareAndSet', args, async () => {
      const [key, expected, next] = JSON.parse(args) as [string, unknown, unknown];
      return { ok: true, value: JSON.stringify(await values.compareAndSet(key, expected, next)) };
    });
}

test('a hundred compareAndSet of two megabytes end with their budget, and other requests are served', async () => {
  const other = app.clientOf((await app.addWorkspace('Other', 'OTHER')).apiKey);
  const { id } = await install(
    app.call,
    await packSource(`{ id: 'test.heavy', version: '1.0.0', engines: { tatami: '*' },
      scopes: { 'issues:read': { why: 'test' } }, on: { 'issue.created': { handle: async () => undefined } } }`),
  );
  const big = 'x'.repeat(2_000_000);
  await app.call('PUT', '/api/v1/plugins/test.heavy/kv/big', { value: big });
  const call = callsOf(id);
  const args = JSON.stringify(['big', big, big]);
  const alone = await feel(other, 300);
  const before = process.memoryUsage.rss();
  const slowness = watchSlowness();
  const answering = Promise.all(Array.from({ length: 100 }, () => call(args)));
  const beside = await feel(other, 500);
  const answers = await answering;
  const grownMb = (process.memoryUsage.rss() - before) / 1024 / 1024;
  const cpuMs = app.services.ledger.usageOf(app.workspace.workspaceId).get(id)?.cpuMs ?? 0;
  console.log(
    `reads of others: p50 ${alone.p50.toFixed(1)} → ${beside.p50.toFixed(1)} ms, slowest ${alone.worst.toFixed(1)} → ${beside.worst.toFixed(1)} ms; memory +${grownMb.toFixed()} MB; charged ${cpuMs.toFixed()} ms`,
  );
  expect(answers.slice(0, 8)).toEqual(Array<CallAnswer>(8).fill({ ok: true, value: 'true' }));
  expect(answers.slice(8).map((answer) => (answer.ok ? '' : answer.error.code))).toEqual(
    Array<string>(92).fill('quota_exceeded'),
  );
  expect(cpuMs).toBeGreaterThan(8);
  expect(beside.p50).toBeLessThan(Math.max(20 * slowness(), alone.p50 * 2));
}, 60_000);
