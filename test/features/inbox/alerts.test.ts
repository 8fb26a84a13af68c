// Server problems are announced to every workspace once they last a minute, once each across restarts, and again when
// they end.
import { expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(2);
}

const problemEvents = async (app: TestApp, key = app.workspace.apiKey): Promise<Json[]> =>
  (await app.clientOf(key)('GET', '/api/v1/events?types=system.*&limit=100')).json.data;

test('a problem that lasts a minute is announced to every workspace once, also across restarts, and a brief one is not', async () => {
  let app = await startApp();
  const other = await app.addWorkspace('Other', 'OTH');
  const since = new Date(app.clock.nowMs()).toISOString();
  app.services.problems.raise('backup', 'The last backup of /srv/tatami is 3 days old.');
  app.services.problems.raise('held', 'Restored.');
  app.services.problems.raise('disk', 'Only 3 MB are free.');
  app.clock.advance(30_000);
  app.services.problems.clear('held');
  expect(await problemEvents(app)).toEqual([]);
  app.clock.advance(30_000);
  await until(
    async () => (await problemEvents(app)).length > 0 && (await problemEvents(app, other.apiKey)).length > 0,
  );

  for (const key of [app.workspace.apiKey, other.apiKey]) {
    const events = await problemEvents(app, key);
    expect(events).toMatchObject([
      {
        type: 'system.problem_raised',
        actor: { kind: 'system' },
        data: { kind: 'backup', since, until: null, message: expect.not.stringContaining('/srv') },
      },
    ]);
    const { data } = (await app.clientOf(key)('GET', '/api/v1/inbox')).json;
    expect(data).toMatchObject([{ kind: 'system_problem', target: { kind: 'system', id: 'backup' } }]);
  }

  app = await app.restart();
  app.services.problems.raise('backup', 'The last backup is 4 days old.');
  app.clock.advance(120_000);
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'A commit behind what might be told' });
  expect(await problemEvents(app)).toHaveLength(1);

  app = await app.restart();
  app.clock.advance(60_000);
  await until(async () => (await problemEvents(app)).length > 1);
  expect((await problemEvents(app))[1]).toMatchObject({
    type: 'system.problem_cleared',
    data: { kind: 'backup', since, until: new Date(app.clock.nowMs()).toISOString() },
  });
  expect((await app.call('GET', '/api/v1/inbox')).json.data).toHaveLength(1);
  await app.stop();
});

test('a problem that cannot be written is announced with its end once writes succeed again', async () => {
  const app = await startApp();
  const { store, problems } = app.services;
  const { commit } = store;
  store.commit = () => Promise.reject(new Error('no room'));
  problems.raise('plugins', 'The sandbox is down.');
  app.clock.advance(60_000);
  await until(() =>
    Promise.resolve(app.logs.some(({ message }) => message.includes('could not be notified'))),
  );
  problems.clear('plugins');
  store.commit = commit;
  expect(await problemEvents(app)).toEqual([]);
  app.clock.advance(60_000);
  await until(async () => (await problemEvents(app)).length === 2);
  expect((await problemEvents(app)).map(({ type }) => type)).toEqual([
    'system.problem_raised',
    'system.problem_cleared',
  ]);
  await app.stop();
});
