// Baseline of `sandbox`, run by the sidecar's Node with the sidecar's flags: the same number of isolates, each entered three times
// per run (one event, two answers), with the same input, output and handler, but without limits, protocol or second process.
import type IsolatedVm from 'isolated-vm';
import { createInterface } from 'node:readline';
import type { Exchange } from '../exchange.ts';
import { percentilesOf } from '../latencies.ts';
import type { RunsResult } from './sandbox-server.ts';

export interface BareStart {
  readonly addonPath: string;
  readonly exchange: Exchange;
  readonly concurrency: number;
}

export interface BarePlan {
  readonly durationMs: number;
}

type EntryReference = IsolatedVm.Reference<(text: string) => { readonly text: string }>;

/** The handler of `touch` in `plugins.ts` with the minimum needed to pass it an event and answers. */
const program = `'use strict';
  const said = { text: '' };
  let settle;
  const call = (op, args) => new Promise((resolve) => {
    settle = resolve;
    said.text = JSON.stringify([op, args]);
  });
  const issues = { get: (id) => call('issues.get', [id]), update: (id, patch) => call('issues.update', [id, patch]) };
  const handle = async ({ data }, { issues }) => {
    const issue = await issues.get(data.id);
    await issues.update(issue.id, { priority: issue.title.length % 2 ? 'low' : 'medium' });
  };
  const end = () => { settle = undefined; said.text = '["done"]'; };
  globalThis.enter = (text) => {
    const given = JSON.parse(text);
    if (settle) settle(given);
    else handle(given.event, { issues }).then(end);
    return said;
  };`;

async function open(ivm: typeof IsolatedVm): Promise<EntryReference> {
  const isolate = new ivm.Isolate({ memoryLimit: 32 });
  const context = await isolate.createContext();
  await context.eval(program);
  return (await context.global.get('enter', { reference: true })) as EntryReference;
}

/**
 * The isolate writes its output to this object once its promises have settled; the object is copied after
 * that.
 */
const copied = { result: { copy: true } } as const;

async function oneRun(enter: EntryReference, { input, answers }: Exchange): Promise<void> {
  const calls: (string | undefined)[] = [];
  for (const text of [input, ...answers]) {
    const { text: said } = await enter.apply(undefined, [text], copied);
    calls.push((JSON.parse(said) as string[])[0]);
  }
  if (calls.join() !== 'issues.get,issues.update,done') throw new Error(`The handler made ${calls.join()}.`);
}

function loadIsolatedVm(path: string): typeof IsolatedVm {
  const module: { exports: { ivm?: typeof IsolatedVm } } = { exports: {} };
  process.dlopen(module, path);
  return module.exports.ivm ?? (module.exports as typeof IsolatedVm);
}

async function round(
  entries: readonly EntryReference[],
  exchange: Exchange,
  { durationMs }: BarePlan,
): Promise<RunsResult> {
  const before = process.cpuUsage();
  const startedMs = performance.now();
  const endsMs = startedMs + durationMs;
  const latencies: number[] = [];
  const loop = async (enter: EntryReference): Promise<void> => {
    for (let now = performance.now(); now < endsMs; now = performance.now()) {
      await oneRun(enter, exchange);
      latencies.push(performance.now() - now);
    }
  };
  await Promise.all(entries.map(loop));
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(before);
  const runs = latencies.length;
  return {
    runs,
    perSecond: (runs / tookMs) * 1000,
    coreUs: 0,
    sidecarUs: (user + system) / runs,
    ...percentilesOf(latencies),
  };
}

async function main({ addonPath, exchange, concurrency }: BareStart): Promise<void> {
  const ivm = loadIsolatedVm(addonPath);
  const entries = await Promise.all(Array.from({ length: concurrency }, () => open(ivm)));
  console.log('ready');
  for await (const line of createInterface({ input: process.stdin }))
    console.log(JSON.stringify(await round(entries, exchange, JSON.parse(line) as BarePlan)));
}

await main(JSON.parse(process.argv[2] ?? process.argv[1] ?? '') as BareStart);
