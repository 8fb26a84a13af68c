// Get of one issue, authenticated, with rate limits and headers, against a prepared read and `JSON.stringify`.
import { judged, type Findings } from '../report.ts';
import { interleave, type Effort } from '../rounds.ts';
import { withServers, type TatamiChild } from '../servers/start.ts';

export function get(effort: Effort): Promise<Findings> {
  return withServers(async ({ load, tatami, yardstick }) => {
    const ours = await tatami({ issues: 1_000 });
    const bare = await yardstick(1_000);
    const plan = { method: 'GET', headers: ours.headers, connections: 32 } as const;
    const of = ({ url, child, issueIds }: Pick<TatamiChild, 'url' | 'child' | 'issueIds'>) => ({
      ...{ ...plan, url, pid: child.pid },
      requests: issueIds.map((id) => ({ path: `/api/v1/issues/${id}` })),
    });
    const sides = await interleave(load, effort, { ours: of(ours), yardstick: of(bare) });
    return {
      ratios: [
        judged({
          name: 'get one issue',
          ours: sides.ours.perSecond,
          yardstick: sides.yardstick.perSecond,
          unit: '/s',
          cpuRatio: sides.yardstick.cpuUs / sides.ours.cpuUs,
          reach: 0.7,
          isByCpu: true,
          bound: 'least',
          sides,
        }),
      ],
    };
  });
}
