// kill -9 with 10,000 events that neither a webhook nor a plugin has seen through, then how soon the next process answers
// and how long it works off what was left. Told, not judged.
import { touch } from '../plugins.ts';
import { freePort, untilReady } from '../processes.ts';
import type { Findings } from '../report.ts';
import { withServers } from '../servers/start.ts';

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
    const left = await child.ask<number>('openWork');
    await child.kill();
    const port = freePort();
    const startedMs = performance.now();
    const [again, readyMs] = await Promise.all([
      tatami({ dataDir, apiKey, port }),
      untilReady(`http://127.0.0.1:${port}`, startedMs),
    ]);
    await again.child.ask('settled');
    return {
      figures: [
        {
          name: `kill -9: work left of ${events} events, as far as planned`,
          value: left,
          unit: 'runs and deliveries',
        },
        { name: 'kill -9 to ready', value: readyMs, unit: 'ms' },
        { name: 'kill -9 to all of it worked off', value: performance.now() - startedMs, unit: 'ms' },
      ],
    };
  });
}
