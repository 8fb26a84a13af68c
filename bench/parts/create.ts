// Durable creation at 64 clients, against a bare server that commits similar rows in groups at synchronous=FULL. A single writer, which waits
// for every sync, is reported without a target.
import { judged, type Findings } from '../report.ts';
import { interleave, type Effort } from '../rounds.ts';
import { withServers } from '../servers/start.ts';

export const creations = Array.from({ length: 1_000 }, (_, n) => ({
  path: '/api/v1/issues',
  body: JSON.stringify({ team: 'ENG', title: `The save dialog crashes when the disk is full, ${n}` }),
}));

export function create(effort: Effort): Promise<Findings> {
  return withServers(async ({ load, tatami, yardstick }) => {
    const ours = await tatami();
    const bare = await yardstick();
    const plan = { method: 'POST', requests: creations, headers: ours.headers, connections: 64 } as const;
    const sides = await interleave(load, effort, {
      ours: { ...plan, url: ours.url, pid: ours.child.pid },
      yardstick: { ...plan, url: bare.url, pid: bare.child.pid },
      alone: { ...plan, connections: 1, url: ours.url, pid: ours.child.pid },
      bareAlone: { ...plan, connections: 1, url: bare.url, pid: bare.child.pid },
    });
    return {
      ratios: [
        judged({
          name: 'durable create, 64 clients',
          ours: sides.ours.perSecond,
          yardstick: sides.yardstick.perSecond,
          unit: '/s',
          cpuRatio: sides.yardstick.cpuUs / sides.ours.cpuUs,
          reach: 0.42,
          isByCpu: true,
          bound: 'least',
          sides: { ours: sides.ours, yardstick: sides.yardstick },
        }),
      ],
      figures: [
        { name: 'durable create, one writer alone', value: sides.alone.perSecond, unit: '/s' },
        { name: 'the same on the baseline', value: sides.bareAlone.perSecond, unit: '/s' },
      ],
    };
  });
}
