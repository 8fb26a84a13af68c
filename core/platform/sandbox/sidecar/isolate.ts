// One guest: an isolate with the guest program and one plugin module. Each message for the plugin passes
// through `enter`, which calls the guest program's `step`. isolated-vm settles all promises before it copies
// the return value, so the returned outbox is complete.
import IsolatedVm from 'isolated-vm';
import type { RunLimits, RunNonce } from '../protocol.ts';
import { recorderUnits } from './guest/recorder.ts';
import type { Inline } from './inline.ts';
import { createEntries, type GuestCaller, type Step } from './entries.ts';
import {
  cpuFault,
  faultOf,
  GuestFault,
  loadingFault,
  startupFault,
  type CpuMeter,
  type Watchdog,
} from './meter.ts';

type Register = IsolatedVm.Reference<(definition: unknown) => string>;

export interface Guest {
  readonly isolate: TimedIsolate;
  readonly sha256: string;
  readonly memoryMb: number;
  lastUsedAt: number;
  memoryBytes: number;
  runs: number;
  /** Limits that were last sent to the guest, as JSON. */
  limitsText: string;
  /**
   * Enters the guest for this run: passes what waits for it, waits until all promises of the guest settle, and reports the result.
   * Uses methods of one object because each event and answer takes this path, and closures and promises cost measurable time.
   */
  enter(caller: GuestCaller): void;
  /** Updates `memoryBytes`, then calls `then`: at once if the last entry was on the main thread. */
  measureMemory(then: () => void): void;
}

export type Ivm = typeof IsolatedVm;

export interface GuestHost {
  ivm: Ivm;
  guestProgram: string;
  meter: CpuMeter;
  watchdog: Watchdog;
  inline: Inline;
  /** Called when the isolate ran out of memory and its thread is blocked forever. */
  onCatastrophe(isolate: TimedIsolate, message: string): void;
}

interface GuestOrder {
  readonly sha256: string;
  readonly source: string;
  readonly limits: RunLimits;
  readonly run: RunNonce;
}

/** Loads a plugin; `handlers` is a JSON list of the registered names. @throws GuestFault after disposing of the isolate */
export async function loadGuest(
  host: GuestHost,
  order: GuestOrder,
): Promise<{ guest: Guest; handlers: string }> {
  const { guest, enterDefinition } = await openGuest(host, order, 'register');
  try {
    return { guest, handlers: await enterDefinition() };
  } catch (error) {
    guest.isolate.dispose();
    throw startupFault(error);
  }
}

/** Returns the static part of the definition as JSON text, and disposes of the isolate. @throws GuestFault */
export async function describeGuest(host: GuestHost, order: GuestOrder): Promise<string> {
  const { guest, enterDefinition } = await openGuest(host, order, 'describe');
  try {
    return await enterDefinition();
  } catch (error) {
    throw startupFault(error);
  } finally {
    guest.isolate.dispose();
  }
}

interface OpenedGuest {
  readonly guest: Guest;
  /** Calls the guest program's `register` or `describe` with the plugin's definition. @throws GuestFault */
  enterDefinition(): Promise<string>;
}

async function openGuest(
  host: GuestHost,
  { sha256, source, limits, run }: GuestOrder,
  entryPoint: 'register' | 'describe',
): Promise<OpenedGuest> {
  const isolate = createTimedIsolate(host, limits.memoryMb, run);
  /** Memory of `guest/recorder.ts`; a thread that does not stop may still write to it. */
  const recorder = new Uint16Array(new SharedArrayBuffer(recorderUnits * 2));
  try {
    const context = await isolate.vm.createContext();
    const bridge = await installProgram(host, context, recorder);
    const step = (await bridge.get('step', { reference: true })) as Step;
    const register = (await bridge.get(entryPoint, { reference: true })) as Register;
    await context.global.delete('tatamiBridge');
    const definition = await isolate.timed(limits.startupMs, () => evaluate(isolate, context, source));
    const enterDefinition = async (): Promise<string> =>
      checkText(
        await isolate.timed(limits.startupMs, () => register.apply(undefined, [definition.derefInto()])),
      );
    const guest = guestIn(host, isolate, { sha256, memoryMb: limits.memoryMb }, { step, recorder });
    return { guest, enterDefinition };
  } catch (error) {
    isolate.dispose();
    throw startupFault(error);
  }
}

async function installProgram(
  host: GuestHost,
  context: IsolatedVm.Context,
  recorder: Uint16Array,
): Promise<IsolatedVm.Reference<Record<string, unknown>>> {
  const shared = new host.ivm.ExternalCopy(recorder.buffer).copyInto({ release: true });
  await context.global.set('tatamiRecorder', shared);
  await context.eval(host.guestProgram, { filename: 'tatami:guest' });
  return (await context.global.get('tatamiBridge', { reference: true })) as IsolatedVm.Reference<
    Record<string, unknown>
  >;
}

async function evaluate(
  isolate: TimedIsolate,
  context: IsolatedVm.Context,
  source: string,
): Promise<IsolatedVm.Reference<unknown>> {
  const module = await isolate.vm.compileModule(source, { filename: 'plugin.js' });
  if (module.dependencySpecifiers.length > 0) {
    throw new GuestFault(
      'startup',
      `The bundle imports ${JSON.stringify(module.dependencySpecifiers[0])}. A plugin must be one module without imports.`,
    );
  }
  await module.instantiate(context, () => {
    throw new Error('Unreachable: imports were refused.');
  });
  await module.evaluate();
  return (await module.namespace.get('default', { reference: true })) as IsolatedVm.Reference<unknown>;
}

function guestIn(
  host: GuestHost,
  isolate: TimedIsolate,
  code: Pick<Guest, 'sha256' | 'memoryMb'>,
  { step, recorder }: { step: Step; recorder: Uint16Array },
): Guest {
  const guest: Guest = {
    isolate,
    ...code,
    lastUsedAt: 0,
    memoryBytes: 0,
    runs: 0,
    limitsText: '',
    enter: createEntries(host.inline, isolate, { step, recorder }),
    measureMemory(then) {
      const read = (heap: IsolatedVm.HeapStatistics): void => {
        guest.memoryBytes = heap.used_heap_size + heap.externally_allocated_size;
      };
      // A thread may still be leaving the isolate, and the main thread must not wait for it.
      if (!isolate.isOnMain) return void isolate.vm.getHeapStatistics().then(read).then(then, then);
      read(isolate.vm.getHeapStatisticsSync());
      then();
    },
  };
  return guest;
}

function checkText(value: unknown): string {
  if (typeof value !== 'string')
    throw new GuestFault('protocol', 'The guest program returned a value that is not text.');
  return value;
}

/** One uninterrupted stretch of guest code. Times are values of `CpuMeter.hadMs`. */
export interface TimedEntry {
  readonly isolate: TimedIsolate;
  readonly hadAtStartMs: number;
  readonly limitMs: number;
  /** True once the limit is exceeded. */
  over: boolean;
  /** Time at which the isolate was disposed of during the entry. */
  disposedAtMs?: number;
}

/**
 * An isolate that measures the CPU time of every entry. Entries do not use isolated-vm's `timeout`, which is
 * wall time and would stop correct code on a busy machine; the watchdog ends entries that exceed their CPU
 * limit.
 */
export interface TimedIsolate {
  readonly vm: IsolatedVm.Isolate;
  /** Run that is the culprit if the thread does not stop. */
  currentRun: RunNonce;
  /** True if the last entry was on the main thread. */
  isOnMain: boolean;
  /** CPU time of all entries so far, loading included. */
  readonly cpuMs: number;
  /** Starts an entry. Every entry must be ended, also after an error; an entry that is `over` at its end has failed. */
  begin(limitMs: number): TimedEntry;
  /** @returns the CPU time of the entry */
  end(entry: TimedEntry): number;
  /** Adds the CPU time of an entry that was measured elsewhere. */
  spend(usedMs: number): void;
  /** Converts an error of an entry; an entry over its limit has a CPU fault. */
  faultOf(error: unknown, entry?: TimedEntry): GuestFault;
  /** Runs a step of loading the plugin as one entry. @throws GuestFault */
  timed<T>(limitMs: number, work: () => Promise<T>): Promise<T>;
  dispose(): void;
}

function createTimedIsolate(host: GuestHost, memoryMb: number, run: RunNonce): TimedIsolate {
  const { meter, watchdog } = host;
  let cpuMs = 0;
  let current: TimedEntry | undefined;

  const isolate: TimedIsolate = {
    vm: new host.ivm.Isolate({
      memoryLimit: memoryMb,
      onCatastrophicError: (message) => host.onCatastrophe(isolate, message),
    }),
    currentRun: run,
    isOnMain: false,
    get cpuMs() {
      return cpuMs;
    },
    begin(limitMs) {
      current = { isolate, hadAtStartMs: meter.enter(), limitMs, over: false };
      watchdog.add(current);
      return current;
    },
    end(entry) {
      watchdog.remove(entry);
      current = undefined;
      const usedMs = Math.max(0, meter.leave() - entry.hadAtStartMs);
      cpuMs += usedMs;
      return usedMs;
    },
    spend: (usedMs) => void (cpuMs += usedMs),
    faultOf(error, entry) {
      if (error instanceof GuestFault) return error;
      return entry?.over ? cpuFault(entry.limitMs) : faultOf(error, memoryMb);
    },
    async timed(limitMs, work) {
      const entry = isolate.begin(limitMs);
      try {
        const result = await work();
        if (!entry.over) return result;
      } catch (error) {
        throw entry.over ? loadingFault(limitMs) : isolate.faultOf(error, entry);
      } finally {
        isolate.end(entry);
      }
      throw loadingFault(limitMs);
    },
    dispose() {
      if (current) current.disposedAtMs ??= meter.hadMs();
      if (!isolate.vm.isDisposed) isolate.vm.dispose();
    },
  };
  return isolate;
}
