// Prometheus metrics: their counters, their port, and the absence of personal data.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startHooks, startReceiver, type Hooks, type Receiver } from '../features/webhooks/receiver.ts';

let hooks: Hooks;
let receiver: Receiver;
beforeAll(async () => {
  receiver = startReceiver();
  hooks = await startHooks({ flags: { metricsPort: '0' } });
});
afterAll(async () => {
  await hooks.app.stop();
  await receiver.stop();
});

async function scrape(): Promise<{ text: string; value(sample: string): number }> {
  const answer = await fetch(hooks.app.metricsUrl ?? '');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('text/plain; version=0.0.4'),
  ]);
  const text = await answer.text();
  return {
    text,
    value(sample) {
      const line = text.split('\n').find((one) => one.startsWith(`${sample} `));
      return Number(line?.slice(sample.length + 1) ?? Number.NaN);
    },
  };
}

test('metrics count requests, commits, deliveries, sizes and problems, with labels that contain no ids', async () => {
  const { app } = hooks;
  const endpoint = await hooks.register(receiver.url, { events: ['issue.created'] });
  const before = await scrape();
  const issue = await hooks.file('Secret title');
  for (let n = 0; n < 3; n++) await app.call('GET', `/api/v1/issues/${issue.id}`);
  await app.call('GET', '/api/v1/issues/iss_missing');
  await app.call('GET', '/nowhere');
  await app.settled();
  app.services.problems.raise('backup', 'It is old.');
  app.clock.advance(5_000);

  const { text, value } = await scrape();
  expect(value('tatami_http_requests_total{method="GET",route="/api/v1/issues/{id}",status="200"}')).toBe(3);
  expect(value('tatami_http_requests_total{method="GET",route="/api/v1/issues/{id}",status="404"}')).toBe(1);
  expect(value('tatami_http_requests_total{method="any",route="none",status="404"}')).toBe(1);
  expect(value('tatami_http_request_duration_seconds_count{method="GET",route="/api/v1/issues/{id}"}')).toBe(
    4,
  );
  expect(value('tatami_deliveries_total{outcome="delivered"}')).toBe(1);
  expect(value('tatami_store_batches_total')).toBeGreaterThan(before.value('tatami_store_batches_total'));
  expect(value('tatami_store_groups_total')).toBeGreaterThan(0);
  expect(value('tatami_consumer_events_behind{consumer="webhooks"}')).toBe(0);
  expect(value('tatami_work_waiting{kind="delivery"}')).toBe(0);
  expect(value('tatami_problem{kind="backup"}')).toBe(1);
  expect(value('tatami_problem_seconds{kind="backup"}')).toBe(5);
  expect(value('tatami_problem{kind="damage"}')).toBe(0);
  for (const sample of [
    'tatami_database_bytes{file="database"}',
    'tatami_disk_free_bytes',
    'process_resident_memory_bytes',
    'process_start_time_seconds',
    'tatami_sandbox_state{state="unused"}',
  ])
    expect([sample, value(sample) > 0]).toEqual([sample, true]);

  const secrets = [
    app.workspace.workspaceId,
    app.workspace.apiKey,
    issue.id,
    endpoint.id,
    receiver.url,
    'Secret title',
  ];
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  expect(text).not.toMatch(/[a-z]{3}_[0-9a-z]{26}/i);
});

test('metrics are served on their own port only', async () => {
  expect((await hooks.app.call('GET', '/metrics')).status).toBe(404);
  expect((await fetch(new URL('/other', hooks.app.metricsUrl ?? ''))).status).toBe(404);
  expect(new URL(hooks.app.metricsUrl ?? '').port).not.toBe(new URL(hooks.app.url).port);
});
