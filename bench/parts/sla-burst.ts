// SLA clocks that are all due at the same moment, by a calendar whose day starts a minute earlier: time until all breaches are
// emitted, and the latency of reads on the same server meanwhile.
import type { LoadResult } from '../load/load.ts';
import { judged, type Ratio } from '../report.ts';
import { sideOf, type Effort } from '../rounds.ts';
import { callOf } from '../servers/catalogue.ts';
import type { Bench, TatamiChild } from '../servers/start.ts';

const minuteMs = 60_000;
const many = 10_000;
const few = 1_000;
const bulk = 100;
/** Minimum time to start the clocks before the calendar's day begins. */
const leadMs = 45_000;
const roundMs = 1_000;
const quietRounds = 7;

export async function dueAtOnce(bench: Bench, effort: Effort, server: TatamiChild): Promise<Ratio[]> {
  const isQuick = effort.rounds < 5;
  const count = isQuick ? few : many;
  const { child, url, headers } = server;
  const opensAtMs = Math.ceil((Date.now() + (isQuick ? leadMs / 5 : leadMs)) / minuteMs) * minuteMs;
  const id = await startClocks(server, count, opensAtMs);
  const read = (): Promise<LoadResult> =>
    bench.load.ask('run', {
      url,
      headers,
      method: 'GET',
      requests: [{ path: `/api/v1/issues/${id}` }],
      connections: 4,
      perSecond: 500,
      durationMs: roundMs,
      pid: child.pid,
    });
  await read();
  const quiet: LoadResult[] = [];
  while (quiet.length < quietRounds) quiet.push(await read());
  const dueAtMs = opensAtMs + minuteMs;
  if (Date.now() > dueAtMs) throw new Error('The clocks were due before they were started.');
  await Bun.sleep(dueAtMs - Date.now());
  const beside: LoadResult[] = [];
  for (let done = 0; done < count && beside.length < 180;) {
    beside.push(await read());
    done = await child.ask<number>('breachedClocks');
  }
  const tookMs = Date.now() - dueAtMs;
  const [busy, alone] = [sideOf(beside), sideOf(quiet)];
  const common = { cpuRatio: null, bound: 'most', sides: {} } as const;
  return [
    judged({
      ...common,
      name: `catalogue: ${count} clocks due at once, all emitted`,
      ours: tookMs / 1_000,
      yardstick: minuteMs / 1_000,
      unit: 's',
      reach: 1,
    }),
    judged({
      ...common,
      name: 'catalogue: p99 of a read meanwhile, 500/s',
      ours: busy.p99Ms,
      yardstick: alone.p99Ms,
      unit: 'ms',
      reach: 2,
      sides: { meanwhile: busy, alone },
    }),
  ];
}

/** @returns the id of an issue for the reads */
async function startClocks(server: TatamiChild, count: number, opensAtMs: number): Promise<string> {
  const call = callOf(server);
  const hours = [{ from: new Date(opensAtMs).toISOString().slice(11, 16), to: '24:00' }];
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
  const calendar = await call<{ id: string }>('POST', '/calendars', {
    name: 'Opens soon',
    timeZone: 'UTC',
    hours: Object.fromEntries(days.map((day) => [day, hours])),
  });
  await call('POST', '/sla-policies', {
    name: 'Within a minute',
    filter: { priority: 'urgent' },
    targetMinutes: 1,
    calendarId: calendar.id,
  });
  let id = '';
  for (let n = 0; n < count; n += bulk) {
    const { data } = await call<{ data: { id: string }[] }>('POST', '/issues/bulk', {
      issues: Array.from({ length: bulk }, (_, index) => ({
        team: 'ENG',
        title: `Urgent ${n + index}`,
        priority: 'urgent',
      })),
    });
    id = data[0]!.id;
  }
  await server.child.ask('settled');
  return id;
}
