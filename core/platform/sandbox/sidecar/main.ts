// Program of the sidecar, a Node process that runs plugins in isolates. The sidecar has no secrets, no data paths and no network, and
// the core may kill it at any moment. Arguments: the path of isolated-vm's prebuilt addon, and the jail report as JSON.
import { manifestMax, messageMax } from '../protocol.ts';
import type { EntryReport, RunEnd, RunNonce, ToSidecar } from '../protocol.ts';
import {
  GuestFault,
  createCpuMeter,
  createWatchdog,
  usedByOtherThreadsMs,
  usedByThisThreadMs,
} from './meter.ts';
import { describeGuest, type Guest, type GuestHost, type Ivm, type TimedIsolate } from './isolate.ts';
import { createIsolates } from './isolates.ts';
import { endOf, GuestRun } from './run.ts';
import { openWire } from './outbox.ts';
import { createInline } from './inline.ts';

type Message<T extends ToSidecar['t']> = Extract<ToSidecar, { t: T }>;

/** Memory is measured only at intervals and after long runs, because it wakes the isolate's thread. */
const measureEveryRuns = 16;
const measureAboveCpuMs = 3;

const [addonPath = '', jailText = '{}'] = process.argv.slice(-2);

/** Loads the addon without node-gyp-build, which probes the file system against the permission flags. Removes `dlopen` afterwards. */
function loadIsolatedVm(path: string): Ivm {
  const module: { exports: { ivm?: Ivm } } = { exports: {} };
  process.dlopen(module, path);
  Reflect.deleteProperty(process, 'dlopen');
  return module.exports.ivm ?? (module.exports as Ivm);
}

/** Bounded by the core's limit of concurrent runs. */
const runs = new Map<RunNonce, GuestRun>();
/** Runs with messages that arrived in this tick. */
let ready: GuestRun[] = [];
/** Usage of a run whose guest was never entered. */
const unused = { cpuMs: 0, acked: 0, memoryBytes: 0 };
/** Runs whose isolate is loading. */
const loading = new Set<RunNonce>();

const meter = createCpuMeter(usedByOtherThreadsMs, () => performance.now());
const host: GuestHost = {
  ivm: loadIsolatedVm(addonPath),
  guestProgram: '',
  meter,
  inline: createInline(() => performance.now(), usedByThisThreadMs),
  watchdog: createWatchdog(meter, ({ isolate, hadAtStartMs }) =>
    sendTaint(isolate, 'cpu', 'The code cannot be interrupted.', meter.hadMs() - hadAtStartMs),
  ),
  onCatastrophe: (isolate, message) => sendTaint(isolate, 'memory', message.slice(0, messageMax), 0),
};
const isolates = createIsolates(host);

const send = openWire(take, enterReady);

function take(message: ToSidecar): void {
  switch (message.t) {
    case 'init':
      return init(message);
    case 'code':
      return isolates.know(message.sha256, message.source);
    case 'run':
      return startRun(message);
    case 'answer':
    case 'refuse':
      return giveAnswer(message);
    case 'stop':
    case 'close':
      return endRun(message);
    case 'evict':
      return isolates.evict(message.prefix);
    case 'forget':
      return isolates.forget(message.codes);
    case 'describe':
      return void describe(message);
    case 'ping':
      return send({ t: 'pong', isolates: isolates.count });
  }
}

function init(message: Message<'init'>): void {
  host.guestProgram = message.guest;
  isolates.setLimits(message);
  host.inline.setAfter(message.inlineAfter);
  send({ t: 'ready', jail: JSON.parse(jailText) as EntryReport });
}

function giveAnswer(message: Message<'answer' | 'refuse'>): void {
  const { t, run, call, elapsedMs, more = false } = message;
  const text = message.t === 'answer' ? message.value : JSON.stringify([message.code, message.message]);
  runs.get(run)?.give(t, call, text, elapsedMs, more);
}

function sendTaint(isolate: TimedIsolate, reason: 'cpu' | 'memory', message: string, moreMs: number): void {
  const run = isolate.currentRun;
  send({ t: 'tainted', run, reason, message, cpuMs: (runs.get(run)?.cpuMs ?? 0) + moreMs });
}

function startRun(order: Message<'run'>): void {
  const warm = isolates.takeWarm(order);
  if (warm) runIn(warm, order);
  else void loadAndRun(order);
}

async function loadAndRun(order: Message<'run'>): Promise<void> {
  loading.add(order.run);
  let guest: Guest;
  try {
    guest = await isolates.load(order);
  } catch (error) {
    if (loading.delete(order.run)) sendEnd(order.run, endOf(error), unused);
    return;
  }
  // A run that was stopped meanwhile has sent its end already.
  if (!loading.delete(order.run)) return guest.isolate.dispose();
  runIn(guest, order);
  enterReady();
}

function enterReady(): void {
  const entering = ready;
  ready = [];
  for (let i = 0; i < entering.length; i++) entering[i]!.enter();
}

function runIn(guest: Guest, order: Message<'run'>): void {
  const run = new GuestRun({
    run: order.run,
    guest,
    limits: order.limits,
    mayBlock: order.mayBlock,
    send,
    ready: (waiting) => void ready.push(waiting),
    offer(end) {
      // Not measured before: the answers may follow at once, and another end.
      sendEnd(order.run, end, usageOf(run, guest), true);
      measure(guest, run.cpuMs, () => undefined);
    },
    finish(end) {
      const isReusable = leavesIsolateWell(end);
      const close = (): void => {
        release(order, guest, isReusable);
        sendEnd(order.run, end, usageOf(run, guest));
      };
      if (isReusable) measure(guest, run.cpuMs, close);
      else close();
    },
    close: () => release(order, guest, true),
  });
  runs.set(order.run, run);
  run.start(order.handler, order.input);
}

function usageOf({ cpuMs, acked }: GuestRun, { memoryBytes }: Guest): typeof unused {
  return { cpuMs, acked, memoryBytes };
}

/** Measures the memory of a guest after a run if it is time. */
function measure(guest: Guest, cpuMs: number, then: () => void): void {
  guest.runs++;
  const isDue = guest.runs === 1 || guest.runs % measureEveryRuns === 0 || cpuMs > measureAboveCpuMs;
  if (isDue) guest.measureMemory(then);
  else then();
}

function release({ run, isolate, fresh }: Message<'run'>, guest: Guest, isReusable: boolean): void {
  runs.delete(run);
  if (isReusable && !fresh) isolates.retain(isolate, guest);
  else guest.isolate.dispose();
}

function leavesIsolateWell(end: RunEnd): boolean {
  return (
    end.status === 'succeeded' ||
    (end.status === 'failed' && ['error', 'retry_later', 'drop', 'invalid_result'].includes(end.reason))
  );
}

function sendEnd(run: RunNonce, end: RunEnd, usage: typeof unused, open = false): void {
  const message = {
    t: 'end',
    run,
    end: clipped(end),
    ...usage,
    isolates: isolates.count + runs.size,
  } as const;
  send(open ? { ...message, open } : message);
}

function clipped(end: RunEnd): RunEnd {
  if (end.status !== 'failed') return end;
  const { message, stack } = end;
  const short = { ...end, message: message.slice(0, messageMax) };
  return stack === undefined ? short : { ...short, stack: stack.slice(0, messageMax) };
}

function endRun({ t, run }: Message<'stop' | 'close'>): void {
  if (t === 'close') return runs.get(run)?.close();
  if (loading.delete(run)) return sendEnd(run, { status: 'stopped' }, unused);
  runs.get(run)?.end({ status: 'stopped' });
}

async function describe({ run, source, limits }: Message<'describe'>): Promise<void> {
  try {
    const manifest = await describeGuest(host, { sha256: '', source, limits, run });
    if (manifest.length > manifestMax)
      throw new GuestFault(
        'startup',
        `The manifest is larger than ${manifestMax} characters. Shorten its texts and schemas.`,
      );
    send({ t: 'described', run, manifest });
  } catch (error) {
    sendEnd(run, endOf(error), unused);
  }
}
