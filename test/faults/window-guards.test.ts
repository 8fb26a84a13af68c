// The guards of work that has no row: each is taken out of a copy, and the tests of consumers must go red.
import { testGuards, type Guard } from '../guards.ts';

const suite = 'core/events/consumer.test.ts';
const guards: readonly Guard[] = [
  {
    name: 'what is under way holds the low-water mark',
    file: 'core/events/consumer-positions.ts',
    guarding: 'for (const sequence of this.#open.keys()) low = Math.min(low, sequence - 1);',
    broken: '',
    suite,
  },
  {
    name: 'who lags behind holds the low-water mark',
    file: 'core/events/consumer-positions.ts',
    guarding: 'for (const { after } of this.lagging.values()) low = Math.min(low, after);',
    broken: '',
    suite,
  },
  {
    name: 'what is planned again is compared with what is stored',
    file: 'core/events/reading.ts',
    guarding: '!isAgain || !(queue.isActive(id) || (await isStored(scope, id)));',
    broken: 'true || !(isAgain && queue.isActive(id) && (await isStored(scope, id)));',
    suite,
  },
  {
    name: 'what ended elsewhere has no second end',
    file: 'core/lib/ids.ts',
    guarding: 'update(`${from} ${by}`)',
    broken: 'update(`${from} ${by} ${Math.random()}`)',
    suite: 'test/faults/plugin-kill.test.ts',
  },
  {
    name: 'what takes long is written',
    file: 'core/events/work/window.ts',
    guarding: 'write([...units.values()].filter(({ sinceMs }) => sinceMs <= oldMs));',
    broken: 'void oldMs;',
    suite,
  },
  {
    name: 'what does not get on is written from the log',
    file: 'core/events/reading.ts',
    guarding: '|| nowMs - lag.movedMs >= stuckMs',
    broken: '',
    suite,
  },
  {
    name: 'units of one order key wait for one another',
    file: 'core/events/work/window.ts',
    guarding: 'const mustWait = isBlocked || chains.has(orderKey);',
    broken: 'const mustWait = isBlocked;',
    suite,
  },
  {
    name: 'an end that is being committed is not written over',
    file: 'core/events/work/unit-writer.ts',
    guarding: 'window.chainOf(entry).every(({ sealed }) => !sealed)',
    broken: 'window !== null',
    suite,
  },
];
// The quickest to be noticed.
testGuards(guards, [guards[1]]);
