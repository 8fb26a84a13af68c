// Problems that the health watch raises and clears.
import { expect, test } from 'bun:test';
import { tmpdir } from 'node:os';
import { createProblems } from '../../platform/lib/errors/failures.ts';
import { StoreError } from '../../platform/store/store.ts';
import { shortage, createHealthWatch } from './watch.ts';

/** A stopped clock that exposes the last timer. */
function createStoppedClock() {
  let run = (): void => undefined;
  return {
    clock: {
      nowMs: () => 1_000,
      monotonicMs: () => 0,
      after: (_: number, next: () => void) => ((run = next), () => undefined),
    },
    fire: () => run(),
  };
}

test('a failing store, a stalled consumer and a stopped sandbox are reported until they recover', async () => {
  const problems = createProblems(() => 1_000);
  const state = { reason: null as string | null, stalledMs: 0, sandbox: 'ready', probes: 0 };
  const { clock, fire } = createStoppedClock();
  const watch = createHealthWatch({
    clock,
    problems,
    log: () => undefined,
    dataDir: tmpdir(),
    diskReserveMb: 0,
    sandboxState: () => state.sandbox,
    progress: () => [
      { consumer: 'plugins', behind: 3, stalledMs: state.stalledMs },
      { consumer: 'webhooks', behind: 0, stalledMs: 0 },
    ],
    store: {
      status: () => ({ writable: state.reason === null, reason: state.reason }),
      commit: () => {
        state.probes++;
        if (state.probes < 2) return Promise.reject(new StoreError('full', 'still full'));
        state.reason = null;
        return Promise.resolve({ ok: true, rows: [] });
      },
    },
  });
  watch.start();
  expect(problems.list()).toEqual([]);

  Object.assign(state, { reason: 'database or disk is full', stalledMs: 300_000, sandbox: 'down' });
  watch.look();
  expect(problems.list().map(({ kind, sinceMs }) => [kind, sinceMs])).toEqual([
    ['read_only', 1_000],
    ['consumer', 1_000],
    ['plugins', 1_000],
  ]);
  const said = problems.list().map(({ message }) => message);
  expect(said[0]).toContain('database or disk is full');
  expect(said[1]).toContain('plugins (3 events behind)');
  expect(said[1]).not.toContain('webhooks');

  // Without other writes, the watch detects that the database can be written again at its second attempt.
  Object.assign(state, { stalledMs: 299_999, sandbox: 'ready' });
  fire();
  await Bun.sleep(0);
  expect(problems.list().map(({ kind }) => kind)).toEqual(['read_only']);
  fire();
  await Bun.sleep(0);
  expect([problems.list(), state.probes]).toEqual([[], 2]);
});

test('a disk is reported as full below its reserve, a small one below a tenth, until more space is free', () => {
  const megabyte = 1024 * 1024;
  const space = (free: number, total: number) => ({ free: free * megabyte, total: total * megabyte });
  expect(shortage(space(512, 100_000), 512, false)).toBeNull();
  expect(shortage(space(511, 100_000), 512, false)).toStartWith('511 MB of 100000 MB are free');
  expect(shortage(space(540, 100_000), 512, true)).toStartWith('540 MB');
  expect(shortage(space(564, 100_000), 512, true)).toBeNull();
  expect(shortage(space(10, 100), 512, false)).toBeNull();
  expect(shortage(space(9, 100), 512, false)).toStartWith('9 MB');
});
