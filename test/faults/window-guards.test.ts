// Guards of work without a row: each is removed from a copy, and the tests of consumers must fail.
import { testGuards, type Guard } from '../guards.ts';

const suite = 'core/kernel/events/consumers/consumer.test.ts';
const positions = 'core/kernel/events/consumers/consumer-positions.test.ts';
const guards: readonly Guard[] = [
  {
    name: 'work in progress limits the low-water mark',
    file: 'core/kernel/events/consumers/consumer-positions.ts',
    guarding: 'for (const sequence of this.#open.keys()) low = Math.min(low, sequence - 1);',
    broken: '',
    suite: positions,
  },
  {
    name: 'a lagging subscriber limits the low-water mark',
    file: 'core/kernel/events/consumers/consumer-positions.ts',
    guarding: 'for (const { after } of this.lagging.values()) low = Math.min(low, after);',
    broken: '',
    suite: positions,
  },
  {
    name: 'work that is planned again is compared with the stored work',
    file: 'core/kernel/events/reading.ts',
    guarding: '!isAgain || !(queue.isActive(id) || (await isStored(scope, id)));',
    broken: 'true || !(isAgain && queue.isActive(id) && (await isStored(scope, id)));',
    suite,
  },
  {
    name: 'work that ended elsewhere does not end twice',
    file: 'core/platform/lib/ids.ts',
    guarding: 'update(`${from} ${by}`)',
    broken: 'update(`${from} ${by} ${Math.random()}`)',
    suite: 'test/faults/plugin-kill.test.ts',
  },
  {
    name: 'slow work is stored',
    file: 'core/kernel/events/work/window.ts',
    guarding: 'write([...units.values()].filter(({ sinceMs }) => sinceMs <= oldMs));',
    broken: 'void oldMs;',
    suite,
  },
  {
    name: 'stalled work is stored from the log',
    file: 'core/kernel/events/reading.ts',
    guarding: '|| nowMs - lag.movedMs >= stuckMs',
    broken: '',
    suite,
  },
  {
    name: 'units of one order key wait for one another',
    file: 'core/kernel/events/work/window.ts',
    guarding: 'const mustWait = isBlocked || chains.has(orderKey);',
    broken: 'const mustWait = isBlocked;',
    suite,
  },
  {
    name: 'a unit waits for stored work that was added since the last search',
    file: 'core/kernel/events/work/without-rows.ts',
    guarding: 'this.#known.delete(`${workspaceId} ${subject}`);',
    broken: '',
    suite: 'test/features/plugins/runtime.test.ts',
  },
  {
    name: 'an end that is being committed is not overwritten',
    file: 'core/kernel/events/work/unit-writer.ts',
    guarding: 'window.chainOf(entry).every(({ sealed }) => !sealed)',
    broken: 'window !== null',
    suite,
  },
];
// The guard that is detected fastest.
testGuards(guards, [guards[1]]);
