// Time from `kill -9` with 10,000 open runs until the next process is ready and until all runs are done,
// against the time to create and run as many in a process that stays up. Both have a webhook whose receiver
// is down.
import { touch } from '../plugins.ts';
import { freePort, untilReady } from '../processes.ts';
import { judged, type Findings } from '../report.ts';
import { fullEffort, type Effort } from '../rounds.ts';
import { withServers, type Bench, type TatamiChild } from '../servers/start.ts';

/** Fields are null if no work is open. */
interface OpenWork {
  readonly runs: number | null;
  readonly deliveries: number | null;
}

const bulk = 100;

export function recovery(effort: Effort): Promise<Findings> {
  const open = effort === fullEffort ? 10_000 : 2_000;
  return withServers(async (bench) => {
    const living = await prepared(bench);
    const livingSince = performance.now();
    await create(living, open);
    await untilDone(living, open);
    const livingMs = performance.now() - livingSince;
    await living.child.kill();

    const killed = await prepared(bench);
    let created = 0;
    // Some runs finish while issues are still being created.
    for (let missing = open; missing > 0; missing = open - (created - (await doneOf(killed)))) {
      await create(killed, missing);
      created += Math.ceil(missing / bulk) * bulk;
    }
    const left = await killed.child.ask<OpenWork>('openWork');
    await killed.child.kill();
    const port = freePort();
    const startedMs = performance.now();
    const [again, readyMs] = await Promise.all([
      bench.tatami({ dataDir: killed.dataDir, apiKey: killed.apiKey, port }),
      untilReady(`http://127.0.0.1:${port}`, startedMs),
    ]);
    await untilDone(again, created);
    const recoveredMs = performance.now() - startedMs;
    return {
      ratios: [
        judged({
          name: `kill -9 with ${open} runs open, to all done`,
          ours: recoveredMs,
          yardstick: livingMs,
          unit: 'ms',
          cpuRatio: null,
          reach: 1.2,
          bound: 'most',
          sides: {},
        }),
      ],
      figures: [
        { name: 'kill -9 to ready', value: readyMs, unit: 'ms' },
        { name: 'kill -9: runs planned and not done', value: left.runs ?? 0, unit: '' },
        { name: 'kill -9: deliveries planned and not done', value: left.deliveries ?? 0, unit: '' },
      ],
    };
  });
}

async function prepared({ tatami }: Bench): Promise<TatamiChild> {
  const server = await tatami();
  const hook = { url: `http://127.0.0.1:${freePort()}/`, events: ['issue.created'] };
  await server.child.ask('call', { method: 'POST', path: '/webhooks', body: hook });
  await server.child.ask('install', await touch());
  return server;
}

async function create({ child }: TatamiChild, count: number): Promise<void> {
  for (let n = 0; n < count; n += bulk)
    await child.ask('call', {
      method: 'POST',
      path: '/issues/bulk',
      body: { issues: Array.from({ length: bulk }, (_, i) => ({ team: 'ENG', title: `Issue ${n + i}` })) },
    });
}

const doneOf = ({ child }: TatamiChild): Promise<number> => child.ask<number>('runsDone');

/** Waits for the runs only: deliveries stay open, because the receiver is down. */
async function untilDone(server: TatamiChild, count: number): Promise<void> {
  while ((await doneOf(server)) < count) await Bun.sleep(100);
}
