import { expect, test } from 'bun:test';
import { createFailureWatch } from './disable.ts';

const good = { failed: false, killed: false };
const failed = { failed: true, killed: false };
const killed = { failed: true, killed: true };
const hourMs = 3_600_000;

/**
 * Records run outcomes. Returns the reason for disabling the plugin and the number of runs until then; null
 * if the plugin stayed enabled.
 */
function run(endings: readonly (typeof good)[], everyMs = 0) {
  let now = 0;
  const watch = createFailureWatch(() => now);
  for (const [index, ending] of endings.entries()) {
    const why = watch.note('plg_1', ending);
    if (why) return { after: index + 1, ...why };
    now += everyMs;
  }
  return null;
}

const times = (count: number, ending: typeof good) => Array.from({ length: count }, () => ending);

test('a plugin that always kills its sandbox is disabled after three runs', () => {
  expect(run(times(10, killed))).toMatchObject({ after: 3, state: 'disabled_sandbox' });
});

test('three kills in a thousand runs do not disable a plugin, at any positions', () => {
  const spread = Array.from({ length: 1_500 }, (_, index) => (index % 500 === 7 ? killed : good));
  expect(run(spread)).toBeNull();
  expect(run([...times(1_497, good), ...times(3, killed)])).toBeNull();
});

test('a plugin that starts to kill its sandbox after thousands of good runs is disabled after ten kills', () => {
  expect(run([...times(5_000, good), ...times(500, killed)])).toMatchObject({
    after: 5_010,
    reason: '10 of the last 100 runs had to be killed.',
  });
});

test('a plugin is disabled with every tenth run killed, and not with every twentieth', () => {
  const each = (nth: number) =>
    Array.from({ length: 2_000 }, (_, index) => (index % nth === nth - 1 ? killed : good));
  expect(run(each(10))).toMatchObject({ state: 'disabled_sandbox' });
  expect(run(each(20))).toBeNull();
});

test('failures without kills count from twenty runs on, and expire after an hour', () => {
  expect(run(times(100, failed))).toMatchObject({ after: 20, state: 'disabled_failures' });
  expect(run(times(100, failed), hourMs / 18)).toBeNull();
  expect(run(times(100, killed), hourMs / 2)).toBeNull();
});

test('beyond the capacity, endings of the least recently run install are evicted', () => {
  const kills = (others: number) => {
    const watch = createFailureWatch(() => 0, 100);
    for (let kill = 0; kill < 2; kill++) watch.note('plg_1', killed);
    for (let other = 0; other < others; other++) watch.note(`plg_other_${other % 10}`, good);
    return watch.note('plg_1', killed)?.state;
  };
  expect(kills(90)).toBe('disabled_sandbox');
  expect(kills(110)).toBeUndefined();
});
