// Costs of automations: a creation beside 500 rules that do not match, a rule against a plugin that makes the same change, and the
// backtest of a rule over 10,000 events, a tenth of which match.
import type { LoadResult } from '../load/load.ts';
import { prioritize } from '../plugins.ts';
import { cpuMs, descendantsOf } from '../processes.ts';
import { judged, median, type Findings, type Ratio } from '../report.ts';
import { sideOf, type Effort } from '../rounds.ts';
import { withServers, type Bench, type TatamiChild } from '../servers/start.ts';
import { planOf } from './transactions/settled-runs.ts';

const rulesMax = 500;
const pastEvents = 10_000;
const backtestCpuMsMax = 10_000;
const pollMs = 50;

const setPriority = [{ type: 'set', fields: { priority: 'low' } }];

export function automations(effort: Effort): Promise<Findings> {
  return withServers(async (bench) => {
    const beside = await besideRules(bench, effort);
    const backtested = await backtest(bench, effort);
    return { ratios: [...beside, backtested] };
  });
}

async function enable(server: TatamiChild, name: string, rule: object): Promise<void> {
  const post = (path: string, body: object) =>
    server.child.ask<{ id: string }>('call', { method: 'POST', path, body });
  const { id } = await post('/automations', { name, actions: setPriority, probation: false, ...rule });
  await post(`/automations/${id}/enable`, { force: true });
}

const onCreate = { type: 'event', event: 'issue.created' } as const;

async function besideRules({ load, tatami }: Bench, effort: Effort): Promise<Ratio[]> {
  const servers = {
    none: await tatami(),
    many: await tatami(),
    plugin: await tatami(),
    rule: await tatami(),
  };
  for (let n = 0; n < rulesMax; n++)
    await enable(servers.many, `Rule ${n}`, { trigger: { ...onCreate, filter: { estimate: n + 1 } } });
  await servers.plugin.child.ask('install', await prioritize());
  await enable(servers.rule, 'Low', { trigger: onCreate });
  const names = Object.keys(servers) as (keyof typeof servers)[];
  const count = Math.round(effort.roundMs * 1.5);
  const results = Object.fromEntries(names.map((name) => [name, [] as LoadResult[]]));
  const cpuUs = Object.fromEntries(names.map((name) => [name, [] as number[]]));
  for (let round = -1; round < effort.rounds; round++)
    for (const name of names) {
      const before = cpuOfAll(servers[name]);
      const result = await load.ask<LoadResult>('run', planOf(servers[name], count));
      await servers[name].child.ask('settled');
      if (result.refused > 0) throw new Error(`${name}: ${result.refused} creations were refused.`);
      if (round < 0) continue;
      results[name]!.push(result);
      cpuUs[name]!.push(((cpuOfAll(servers[name]) - before) / count) * 1000);
    }
  const of = (name: keyof typeof servers): number => median(cpuUs[name]!);
  const side = (name: keyof typeof servers) => ({ ...sideOf(results[name]!), cpuUs: of(name) });
  return [
    judged({
      ...{
        name: `create beside ${rulesMax} rules that do not match`,
        unit: 'µs',
        reach: 1.05,
        bound: 'most',
      },
      ...{ ours: of('many'), yardstick: of('none'), cpuRatio: null },
      sides: { 'with rules': side('many'), without: side('none') },
    }),
    judged({
      ...{ name: 'run of a rule against that of a plugin', unit: 'µs', reach: 1.3, bound: 'most' },
      ...{ ours: of('rule') - of('none'), yardstick: of('plugin') - of('none'), cpuRatio: null },
      sides: { rule: side('rule'), plugin: side('plugin') },
    }),
  ];
}

/** Returns the CPU time of the server and its sidecars in milliseconds. */
const cpuOfAll = ({ child }: TatamiChild): number =>
  [child.pid, ...descendantsOf(child.pid)].reduce((sum, pid) => sum + cpuMs(pid), 0);

async function backtest({ load, tatami }: Bench, effort: Effort): Promise<Ratio> {
  const server = await tatami();
  const count = effort.rounds < 5 ? pastEvents / 10 : pastEvents;
  const { refused } = await load.ask<LoadResult>('run', planOf(server, count));
  if (refused > 0) throw new Error(`${refused} creations were refused.`);
  await server.child.ask('settled');
  const before = cpuOfAll(server);
  const body = { trigger: { ...onCreate, filter: { title: { contains: ', 7' } } }, actions: setPriority };
  const ask = <T>(method: string, path: string, sent?: object): Promise<T> =>
    server.child.ask('call', { method, path, ...(sent && { body: sent }) });
  const { id } = await ask<{ id: string }>('POST', '/automations/preview', body);
  type Backtest = { status: string; report: { events: { wanted: number } } | null };
  let one = await ask<Backtest>('GET', `/backtests/${id}`);
  while (one.status === 'queued' || one.status === 'running') {
    await Bun.sleep(pollMs);
    one = await ask('GET', `/backtests/${id}`);
  }
  if ((one.report?.events.wanted ?? 0) < count / 10)
    throw new Error(
      `The backtest is ${one.status} with ${one.report?.events.wanted ?? 0} events of ${count}.`,
    );
  const used = cpuOfAll(server) - before;
  return judged({
    ...{ name: `backtest of a rule over ${count} events`, unit: 'ms', reach: 1, bound: 'most' },
    ...{ ours: used, yardstick: (backtestCpuMsMax * count) / pastEvents, cpuRatio: null, sides: {} },
  });
}
