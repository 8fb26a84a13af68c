// `/readyz` lists problems with their start, and warnings alone do not make it 503.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { problemKinds } from '../../core/platform/lib/errors/failures.ts';
import { startApp, type TestApp } from '../app.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp({ flags: { diskReserve: '0' } })));
afterAll(() => app.stop());

test('every problem is listed with its time, and a problem that stops the service makes /readyz 503', async () => {
  const { problems } = app.services;
  const ready = await app.call('GET', '/readyz');
  expect([ready.status, ready.json]).toEqual([
    200,
    { status: 'ready', store: true, sandbox: 'unused', problems: [] },
  ]);
  const statuses: Record<string, number> = {};
  for (const kind of problemKinds) {
    const since = new Date(app.clock.nowMs()).toISOString();
    problems.raise(kind, `It is ${kind}.`);
    app.clock.advance(1_000);
    // The health poll corrects the problems that it can observe itself.
    if (['read_only', 'consumer', 'plugins', 'disk'].includes(kind)) {
      expect((await app.call('GET', '/readyz')).json.problems).toEqual([]);
      continue;
    }
    const { status, json } = await app.call('GET', '/readyz');
    expect(json).toMatchObject({
      status: 'degraded',
      problems: [{ kind, since, message: `It is ${kind}.` }],
    });
    statuses[kind] = status;
    problems.clear(kind);
  }
  expect(statuses).toEqual({
    damage: 503,
    archive: 200,
    key: 503,
    files_moved: 503,
    backup: 200,
    copy: 200,
    held: 200,
  });
});

test('a sandbox that does not start makes /readyz 503 with the reason', async () => {
  const without = await startApp({ flags: { nodePath: '/bin/false', diskReserve: '0' } });
  try {
    await without.installFirstParty(without.workspace.workspaceId, 'auto-triage').catch(() => undefined);
    await without.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Crash' });
    for (;;) {
      const { status, json } = await without.call('GET', '/readyz');
      if (json.sandbox !== 'down') continue;
      expect([status, json.problems.map(({ kind }: { kind: string }) => kind)]).toEqual([503, ['plugins']]);
      break;
    }
  } finally {
    await without.stop();
  }
});
