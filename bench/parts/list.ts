// First 50 of 100,000 issues, against a prepared read and `JSON.stringify`, and against Tatami at
// 1,000 issues. Servers restart after seeding, because cache and heap differ in a process that has just
// written 100,000 issues.
import { judged, type Findings } from '../report.ts';
import { interleave, type Effort } from '../rounds.ts';
import { withServers } from '../servers/start.ts';

const many = 100_000;
const few = 1_000;

export function list(effort: Effort): Promise<Findings> {
  return withServers(async ({ load, tatami, anew, yardstick }) => {
    const ours = await anew(await tatami({ issues: many }));
    const small = await anew(await tatami({ issues: few }));
    const bare = await yardstick(many);
    const requests = [{ path: '/api/v1/issues?limit=50' }];
    const plan = { method: 'GET', requests, connections: 16 } as const;
    const sides = await interleave(load, effort, {
      ours: { ...plan, headers: ours.headers, url: ours.url, pid: ours.child.pid },
      yardstick: { ...plan, headers: ours.headers, url: bare.url, pid: bare.child.pid },
      small: { ...plan, headers: small.headers, url: small.url, pid: small.child.pid },
    });
    return {
      ratios: [
        judged({
          name: 'list 50 of 100,000',
          ours: sides.ours.perSecond,
          yardstick: sides.yardstick.perSecond,
          unit: '/s',
          cpuRatio: sides.yardstick.cpuUs / sides.ours.cpuUs,
          reach: 0.75,
          isByCpu: true,
          bound: 'least',
          sides: { ours: sides.ours, yardstick: sides.yardstick },
        }),
        judged({
          name: 'list 50: 100,000 to 1,000',
          ours: sides.ours.perSecond,
          yardstick: sides.small.perSecond,
          unit: '/s',
          cpuRatio: sides.small.cpuUs / sides.ours.cpuUs,
          reach: 0.9,
          bound: 'least',
          sides: { 'at 1,000': sides.small },
        }),
      ],
    };
  });
}
