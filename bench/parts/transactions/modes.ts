// Measures the cost of propose mode and of serializable isolation, each compared with the same runs without
// it.
import type { PluginPackage } from '../../../sdk/plugin/manifest.ts';
import { careful, touch } from '../../plugins.ts';
import { judged, type Findings } from '../../report.ts';
import type { Effort } from '../../rounds.ts';
import { withServers } from '../../servers/start.ts';
import { settledRuns } from './settled-runs.ts';

export async function proposing(effort: Effort): Promise<Findings> {
  const document = await touch();
  const [ours, beside] = [
    { document, mode: 'propose' },
    { document, mode: 'apply' },
  ];
  return compared(effort, { name: 'runs, proposed against applied', ours, beside, reach: 0.8 });
}

export async function serializable(effort: Effort): Promise<Findings> {
  const [ours, beside] = [
    { document: await careful('serializable'), mode: 'apply' },
    { document: await careful('none'), mode: 'apply' },
  ];
  return compared(effort, { name: 'runs, serializable against none', ours, beside, reach: 0.85 });
}

interface Installed {
  readonly document: PluginPackage;
  readonly mode: string;
}

interface Comparison {
  readonly name: string;
  readonly ours: Installed;
  readonly beside: Installed;
  readonly reach: number;
}

function compared(effort: Effort, { name, ours, beside, reach }: Comparison): Promise<Findings> {
  return withServers(async ({ load, tatami }) => {
    const servers = { ours: await tatami(), beside: await tatami() };
    for (const [side, { document, mode }] of Object.entries({ ours, beside })) {
      const { child } = servers[side as keyof typeof servers];
      const id = await child.ask<string>('install', document);
      if (mode !== 'apply')
        await child.ask('call', { method: 'PATCH', path: `/plugins/${id}`, body: { mode } });
    }
    const sides = await settledRuns(load, effort, servers);
    return {
      ratios: [
        judged({
          ...{ name, reach, unit: '/s', bound: 'least' },
          ours: sides.ours.perSecond,
          yardstick: sides.beside.perSecond,
          cpuRatio: sides.beside.cpuUs / sides.ours.cpuUs,
          sides: { ours: sides.ours, beside: sides.beside },
        }),
      ],
    };
  });
}
