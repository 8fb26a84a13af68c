// Cost of the flight recorder: runs of a plugin that reads and updates each new issue, with and without
// recording; bytes stored per run and latency of a replay.
import { touch } from '../../plugins.ts';
import { judged, median, type Findings } from '../../report.ts';
import type { Effort } from '../../rounds.ts';
import { withServers, type TatamiChild } from '../../servers/start.ts';
import { settledRuns } from './settled-runs.ts';

/** Rate limit of replays per plugin and minute. */
const replays = 10;

export function recording(effort: Effort): Promise<Findings> {
  return withServers(async ({ load, tatami }) => {
    const on = await tatami();
    const off = await tatami({ recordRuns: 'off' });
    for (const { child } of [on, off]) await child.ask('install', await touch());
    const sides = await settledRuns(load, effort, { on, off });
    const stored = await recordings(on);
    if ((await recordings(off)).length > 0) throw new Error('Runs were recorded although recording is off.');
    return {
      ratios: [
        judged({
          name: 'runs, recorded',
          ours: sides.on.perSecond,
          yardstick: sides.off.perSecond,
          unit: '/s',
          cpuRatio: sides.off.cpuUs / sides.on.cpuUs,
          reach: 0.85,
          bound: 'least',
          sides: { recorded: sides.on, 'not recorded': sides.off },
        }),
      ],
      figures: [
        {
          name: 'stored bytes of a run with two calls',
          value: median(stored.map(({ bytes }) => bytes)),
          unit: 'bytes',
        },
        { name: 'replay of one run, p50', value: await replayMs(on, stored), unit: 'ms' },
      ],
    };
  });
}

interface StoredRecording {
  readonly id: string;
  readonly bytes: number;
}

/** Returns the recordings of the latest 100 runs. */
async function recordings({ child }: TatamiChild): Promise<StoredRecording[]> {
  const path = '/plugins/touch/runs?limit=100';
  const { data } = await child.ask<{ data: { id: string; recording: { bytes: number } | null }[] }>('call', {
    method: 'GET',
    path,
  });
  return data.flatMap(({ id, recording: one }) => (one ? [{ id, bytes: one.bytes }] : []));
}

async function replayMs({ child }: TatamiChild, stored: readonly StoredRecording[]): Promise<number> {
  const times: number[] = [];
  for (const { id } of stored.slice(0, replays)) {
    const startedMs = performance.now();
    const path = `/runs/${id}/replay`;
    const { result } = await child.ask<{ result: string }>('call', { method: 'POST', path, body: {} });
    times.push(performance.now() - startedMs);
    if (result !== 'identical') throw new Error(`The replay of ${id} is ${result}.`);
  }
  return median(times);
}
