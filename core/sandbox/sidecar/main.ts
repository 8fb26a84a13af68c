// The sidecar: a Node process that runs plugins in isolates and knows nothing else. It holds no secret, no path and no
// network; the core may kill it at any moment. Started with the path of isolated-vm's prebuilt addon and the jail's
// report as its arguments.
import { manifestMax, messageMax } from '../protocol.ts';
import type { EntryReport, RunEnd, RunLimits, RunNonce, ToSidecar } from '../protocol.ts';
import { Guest, GuestFault } from './isolate.ts';
import type { GuestHost, Ivm } from './isolate.ts';
import { ProcessorMeter, usedByOtherThreadsMs } from './meter.ts';
import { endOf, GuestRun } from './run.ts';
import { Watchdog } from './watchdog.ts';
import { openWire } from './wire.ts';

type RunOrder = Extract<ToSidecar, { t: 'run' }>;

const [addonPath = '', jailText = '{}'] = process.argv.slice(-2);

/** node-gyp-build probes the file system, which the permission flags refuse; the addon's path is known. */
function loadIsolatedVm(path: string): Ivm {
  const module: { exports: { ivm?: Ivm } } = { exports: {} };
  process.dlopen(module, path);
  Reflect.deleteProperty(process, 'dlopen');
  return module.exports.ivm ?? (module.exports as Ivm);
}

const codes = new Map<string, string>();
const warm = new Map<string, Guest>();
const runs = new Map<RunNonce, GuestRun>();
/** Runs whose isolate is still loading. */
const loading = new Set<RunNonce>();
let isolatesMax = 200;
let idleMs = 300_000;
/** Memory is measured after runs that worked, and now and then; it costs a wake of the isolate's thread. */
const measureEveryRuns = 16;
const measureAboveCpuMs = 3;

const meter = new ProcessorMeter(usedByOtherThreadsMs, () => performance.now());
const host: GuestHost = {
  ivm: loadIsolatedVm(addonPath),
  guestProgram: '',
  meter,
  watchdog: new Watchdog(meter, ({ guest, hadAtStartMs }) =>
    send({
      t: 'tainted',
      run: guest.currentRun,
      reason: 'cpu',
      message: 'The code cannot be interrupted.',
      cpuMs: cpuOf(guest.currentRun) + meter.hadMs() - hadAtStartMs,
    }),
  ),
  onCatastrophe: (guest, message) =>
    send({
      t: 'tainted',
      run: guest.currentRun,
      reason: 'memory',
      message: message.slice(0, messageMax),
      cpuMs: cpuOf(guest.currentRun),
    }),
};

const send = openWire((message) => {
  switch (message.t) {
    case 'init':
      host.guestProgram = message.guest;
      isolatesMax = message.isolatesMax;
      idleMs = message.idleMs;
      return send({ t: 'ready', jail: JSON.parse(jailText) as EntryReport });
    case 'code':
      return void codes.set(message.sha256, message.source);
    case 'run':
      return void startRun(message);
    case 'answer':
      return runs.get(message.run)?.give('answer', String(message.call), message.value, message.elapsedMs);
    case 'refuse':
      return runs
        .get(message.run)
        ?.give(
          'refuse',
          String(message.call),
          JSON.stringify([message.code, message.message]),
          message.elapsedMs,
        );
    case 'stop':
      return stopRun(message.run);
    case 'evict':
      return evict(message.prefix);
    case 'forget':
      for (const sha256 of message.codes) codes.delete(sha256);
      return;
    case 'describe':
      return void describe(message.run, message.source, message.limits);
    case 'ping':
      return send({ t: 'pong', isolates: warm.size });
  }
});

function cpuOf(run: RunNonce): number {
  return runs.get(run)?.cpuMs ?? 0;
}

async function startRun(order: RunOrder): Promise<void> {
  loading.add(order.run);
  let guest: Guest;
  try {
    guest = await guestFor(order);
  } catch (error) {
    if (loading.delete(order.run)) sendEnd(order.run, endOf(error), 0, 0);
    return;
  }
  // Stopped meanwhile: its end has been sent.
  if (!loading.delete(order.run)) return guest.dispose();
  const run: GuestRun = new GuestRun(
    order.run,
    guest,
    order.limits,
    send,
    (end) => void finish(order, run, end),
  );
  runs.set(order.run, run);
  run.start(order.handler, order.input);
}

/** The warm isolate, or a new one. Its name is taken out of `warm` until the run has ended well. */
async function guestFor(order: RunOrder): Promise<Guest> {
  const found = order.fresh ? undefined : warm.get(order.isolate);
  warm.delete(order.isolate);
  if (found && found.sha256 === order.sha256 && found.memoryMb === order.limits.memoryMb) {
    found.currentRun = order.run;
    return found;
  }
  found?.dispose();
  const source = codes.get(order.sha256);
  if (source === undefined) throw new Error('The bundle was not sent.');
  const { guest, handlers } = await Guest.load(host, order.sha256, source, order.limits, order.run);
  const mismatch = registeredWrong(order, handlers);
  if (mismatch === undefined) return guest;
  guest.dispose();
  throw mismatch;
}

function registeredWrong(order: RunOrder, handlers: string): GuestFault | undefined {
  const registered = JSON.parse(handlers) as string[];
  const declared = order.handlers ?? registered;
  const missing = [...declared, order.handler].find((name) => !registered.includes(name));
  if (missing !== undefined)
    return new GuestFault('startup', `The manifest declares ${missing}, which the code does not register.`);
  const extra = registered.find((name) => !declared.includes(name));
  return extra === undefined
    ? undefined
    : new GuestFault('startup', `The code registers ${extra}, which the manifest does not declare.`);
}

async function finish(order: RunOrder, run: GuestRun, end: RunEnd): Promise<void> {
  const { guest } = run;
  const cpuMs = run.cpuMs;
  guest.runs++;
  const keep =
    end.status === 'succeeded' ||
    (end.status === 'failed' && ['error', 'retry_later', 'drop'].includes(end.reason));
  if (keep && (guest.runs === 1 || guest.runs % measureEveryRuns === 0 || cpuMs > measureAboveCpuMs)) {
    await guest.measureMemory().catch(() => 0);
  }
  runs.delete(run.run);
  if (keep && !order.fresh) keepWarm(order.isolate, guest);
  else guest.dispose();
  sendEnd(run.run, end, cpuMs, guest.memoryBytes);
}

function sendEnd(run: RunNonce, end: RunEnd, cpuMs: number, memoryBytes: number): void {
  const clipped = 'message' in end ? { ...end, message: end.message.slice(0, messageMax) } : end;
  send({ t: 'end', run, end: clipped, cpuMs, memoryBytes, isolates: warm.size + runs.size });
}

/** `warm` is in order of last use, because every run takes its isolate out and puts it back. */
function keepWarm(name: string, guest: Guest): void {
  guest.lastUsedAt = performance.now();
  warm.set(name, guest);
  const [oldest] = warm.keys();
  if (warm.size > isolatesMax && oldest !== undefined) drop(oldest);
}

function drop(name: string): void {
  warm.get(name)?.dispose();
  warm.delete(name);
}

function stopRun(run: RunNonce): void {
  if (loading.delete(run)) return sendEnd(run, { status: 'stopped' }, 0, 0);
  runs.get(run)?.end({ status: 'stopped' });
}

function evict(prefix: string): void {
  for (const name of warm.keys()) if (name.startsWith(prefix)) drop(name);
}

async function describe(run: RunNonce, source: string, limits: RunLimits): Promise<void> {
  try {
    const manifest = await Guest.describe(host, source, limits, run);
    if (manifest.length > manifestMax)
      throw new GuestFault('startup', `The manifest is larger than ${manifestMax} characters.`);
    send({ t: 'described', run, manifest });
  } catch (error) {
    sendEnd(run, endOf(error), 0, 0);
  }
}

setInterval(() => {
  const oldest = performance.now() - idleMs;
  for (const [name, guest] of warm) if (guest.lastUsedAt < oldest) drop(name);
}, 30_000);
