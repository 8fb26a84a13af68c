// kill -9 with 10,000 events that neither a webhook nor a plugin has seen through, then how soon the next process answers
// and how long it takes over the runs. Told, not judged.
import { touch } from '../plugins.ts';
import { freePort, untilReady } from '../processes.ts';
import type { Findings } from '../report.ts';
import { withServers } from '../servers/start.ts';

/** Null where there is no work of any kind. */
interface OpenWork {
  readonly runs: number | null;
  readonly deliveries: number | null;
}

const events = 10_000;
const bulk = 100;

export function recovery(): Promise<Findings> {
  return withServers(async ({ tatami }) => {
    const killed = await tatami();
    const { child, dataDir, apiKey } = killed;
    const hook = { url: `http://127.0.0.1:${freePort()}/`, events: ['issue.created'] };
    await child.ask('call', { method: 'POST', path: '/webhooks', body: hook });
    await child.ask('install', await touch());
    for (let n = 0; n < events; n += bulk)
      await child.ask('call', {
        method: 'POST',
        path: '/issues/bulk',
        body: { issues: Array.from({ length: bulk }, (_, i) => ({ team: 'ENG', title: `Issue ${n + i}` })) },
      });
    const left = await child.ask<OpenWork>('openWork');
    await child.kill();
    const port = freePort();
    const startedMs = performance.now();
    const [again, readyMs] = await Promise.all([
      tatami({ dataDir, apiKey, port }),
      untilReady(`http://127.0.0.1:${port}`, startedMs),
    ]);
    // The receiver stays down, so its deliveries stay open; the runs can be seen through.
    while ((await again.child.ask<OpenWork>('openWork')).runs) await Bun.sleep(50);
    const runsMs = performance.now() - startedMs;
    return {
      figures: [
        {
          name: `kill -9 after ${events} events: runs planned and not done`,
          value: left.runs ?? 0,
          unit: '',
        },
        { name: 'kill -9: deliveries not done', value: left.deliveries ?? 0, unit: '' },
        { name: 'kill -9 to ready', value: readyMs, unit: 'ms' },
        { name: 'kill -9 to all runs done', value: runsMs, unit: 'ms' },
      ],
    };
  });
}
