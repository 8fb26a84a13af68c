import { expect, test } from 'bun:test';
import type { EventRow } from '../../../kernel/events/event.ts';
import { newTotals, type Compared } from './engine.ts';
import { createCollector } from './reports.ts';
import { notSubscribed } from './world.ts';

test('percentiles use the nearest rank, also with few runs', () => {
  const report = (...cpu: number[]) => {
    const collector = createCollector({ sinceMs: 0, untilMs: 86_400_000, to: 0 }, () => Promise.reject());
    for (const cpuMs of cpu)
      void collector.compare({
        event: { id: 'evt_1' } as EventRow,
        past: {} as Compared['past'],
        tried: [{ ...notSubscribed, cpuMs }],
      });
    const { cpuMsP50, cpuMsP95 } = collector.report(newTotals()).costs;
    return [cpuMsP50, cpuMsP95];
  };
  expect(report()).toEqual([0, 0]);
  expect(report(7)).toEqual([7, 7]);
  expect(report(9, 1)).toEqual([1, 9]);
  expect(report(...Array.from({ length: 100 }, (_, at) => at + 1))).toEqual([50, 95]);
});
