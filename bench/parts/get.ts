// Get of one issue, authenticated, with rate limits and headers, against the same prepared read and `JSON.stringify`.
import { judged, type Findings } from '../report.ts';
import { interleave, type Effort } from '../rounds.ts';
import { withServers } from '../servers/start.ts';

export function get(effort: Effort): Promise<Findings> {
  return withServers(async ({ load, tatami, yardstick }) => {
    const ours = await tatami({ issues: 1_000 });
    const bare = await yardstick(ours, false);
    const requests = ours.issueIds.map((id) => ({ path: `/api/v1/issues/${id}` }));
    const plan = { method: 'GET', requests, headers: ours.headers, connections: 32 } as const;
    const sides = await interleave(load, effort, {
      ours: { ...plan, url: ours.url, pid: ours.child.pid },
      yardstick: { ...plan, url: bare.url, pid: bare.child.pid },
    });
    return {
      ratios: [
        judged({
          name: 'get one issue',
          ours: sides.ours.perSecond,
          yardstick: sides.yardstick.perSecond,
          unit: '/s',
          cpuRatio: sides.yardstick.cpuUs / sides.ours.cpuUs,
          reach: 0.65,
          bound: 'least',
          sides,
        }),
      ],
    };
  });
}
