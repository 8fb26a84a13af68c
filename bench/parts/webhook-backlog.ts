// Ten endpoints accept requests without answering while deliveries queue up, then answer: memory over the backlog, and the rate at
// which it drains.
import { rssMb } from '../processes.ts';
import { judged, median, type Findings } from '../report.ts';
import type { Effort } from '../rounds.ts';
import { withServers, type TatamiChild } from '../servers/start.ts';
import type { ReceiverRound } from '../servers/webhook-receiver.ts';
import { creations } from './create.ts';
import { register } from './webhooks.ts';

const endpoints = 10;
const bulk = 100;
const bulksAtOnce = 5;
/**
 * Enough issues to fill the database's page cache, as on a server in use, so that the growth of the cache is
 * not counted as growth of the backlog.
 */
const issues = 30_000;
const sampleEveryMs = 100;
const drainedPerSecondMin = 500;
const firstDrained = 10_000;
/** Maximum ratio of resident memory with the whole backlog to that with a fifth of it. */
const growthMax = 1.15;

interface Sample {
  readonly deliveries: number;
  readonly rss: number;
}

export function backlog(effort: Effort): Promise<Findings> {
  const deliveries = effort.rounds > 3 ? 100_000 : 20_000;
  const all = Array.from({ length: endpoints }, (_, n) => n);
  return withServers(async ({ start, tatami }) => {
    const receiver = start('servers/webhook-receiver.ts');
    const server = await tatami({ issues });
    await register(server, await receiver.ask<string[]>('start', { endpoints }));
    await receiver.ask('hang', all);
    const restingRss = rssMb(server.child.pid);
    const samples = await pile(server, deliveries);
    await receiver.ask('begin');
    let peak = Math.max(...samples.map(({ rss }) => rss));
    const watch = setInterval(() => (peak = Math.max(peak, rssMb(server.child.pid))), sampleEveryMs);
    const startedMs = performance.now();
    await receiver.ask('hang', []);
    await receiver.ask('reached', { endpoints: all, count: firstDrained });
    const firstMs = performance.now() - startedMs;
    await receiver.ask('reached', { endpoints: all, count: deliveries });
    const tookMs = performance.now() - startedMs;
    clearInterval(watch);
    await server.child.ask('settled');
    const { counts } = await receiver.ask<ReceiverRound>('round');
    if (counts.some((count) => count !== deliveries / endpoints))
      throw new Error(
        `Expected ${deliveries / endpoints} events per endpoint, received ${counts.join(', ')}.`,
      );
    const between = (from: number, to: number): number =>
      median(
        samples
          .filter((at) => at.deliveries >= from * deliveries && at.deliveries <= to * deliveries)
          .map(({ rss }) => rss),
      );
    const piled = deliveries.toLocaleString('en');
    return {
      ratios: [
        judged({
          name: `RSS with a backlog of ${piled}, to that at a fifth`,
          ours: between(0.9, 1),
          yardstick: between(0.15, 0.25),
          unit: 'MiB',
          cpuRatio: null,
          reach: growthMax,
          bound: 'most',
          sides: {},
        }),
        judged({
          name: `first ${firstDrained.toLocaleString('en')} of the backlog drained`,
          ours: (firstDrained / firstMs) * 1000,
          yardstick: drainedPerSecondMin,
          unit: '/s',
          cpuRatio: null,
          reach: 1,
          bound: 'least',
          sides: {},
        }),
      ],
      figures: [
        { name: 'RSS before the backlog', value: restingRss, unit: 'MiB' },
        {
          name: 'RSS slope over the backlog, from a fifth on',
          value: slope(samples, deliveries),
          unit: 'MiB per 10,000',
        },
        { name: 'RSS peak, backlog and drain', value: peak, unit: 'MiB' },
        { name: 'RSS after the drain', value: rssMb(server.child.pid), unit: 'MiB' },
        { name: `${piled} drained`, value: (deliveries / tookMs) * 1000, unit: '/s' },
      ],
    };
  });
}

/**
 * Creates events in bulk, and waits after each step until their deliveries are stored; those of a hanging
 * endpoint are stored after a quarter of a second.
 */
async function pile({ child }: TatamiChild, deliveries: number): Promise<Sample[]> {
  const body = { issues: creations.slice(0, bulk).map((creation) => JSON.parse(creation.body)) };
  const samples: Sample[] = [];
  for (let planned = 0; planned < deliveries;) {
    for (let n = 0; n < bulksAtOnce; n++)
      await child.ask('call', { method: 'POST', path: '/issues/bulk', body });
    const expected = planned + bulksAtOnce * bulk * endpoints;
    while (planned < expected) planned = await child.ask<number>('deliveries');
    samples.push({ deliveries: planned, rss: rssMb(child.pid) });
  }
  return samples;
}

/** Returns the growth of resident memory in MiB per 10,000 deliveries, by least squares. */
function slope(samples: readonly Sample[], deliveries: number): number {
  const used = samples.filter((at) => at.deliveries >= deliveries / 5);
  const mean = (of: (sample: Sample) => number): number =>
    used.reduce((sum, sample) => sum + of(sample), 0) / used.length;
  const x = mean((sample) => sample.deliveries / 10_000);
  const y = mean(({ rss }) => rss);
  const covariance = mean((at) => (at.deliveries / 10_000 - x) * (at.rss - y));
  return covariance / mean((at) => (at.deliveries / 10_000 - x) ** 2);
}
