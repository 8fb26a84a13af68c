// An isolate whose every entry is timed. No entry has a `timeout` of isolated-vm's, which is the wall's and would stop honest code
// on a busy machine; the watchdog ends those that have had their processor time.
import type IsolatedVm from 'isolated-vm';
import type { RunNonce } from '../protocol.ts';
import { cpuFault, faultOf, GuestFault } from './fault.ts';
import type { ProcessorMeter } from './meter.ts';
import type { Watchdog } from './watchdog.ts';

export type Ivm = typeof IsolatedVm;

/** Guest code in progress. Times are of `ProcessorMeter.hadMs`. */
export interface Entry {
  readonly isolate: TimedIsolate;
  readonly hadAtStartMs: number;
  readonly limitMs: number;
  /** Its limit was passed. */
  over: boolean;
  /** The isolate was disposed of under it. */
  disposedAtMs?: number;
}

export interface GuestHost {
  ivm: Ivm;
  guestProgram: string;
  meter: ProcessorMeter;
  watchdog: Watchdog;
  /** The isolate ran out of memory so badly that its thread is parked for ever. */
  onCatastrophe(isolate: TimedIsolate, message: string): void;
}

export interface TimedIsolate {
  readonly vm: IsolatedVm.Isolate;
  /** Whom a thread that does not stop belongs to. */
  currentRun: RunNonce;
  /** Processor time of all entries so far, loading included. */
  readonly cpuMs: number;
  /** @throws GuestFault */
  timed<T>(limitMs: number, work: (entry: Entry) => Promise<T>): Promise<T>;
  /** What an error in an entry means. */
  classify(error: unknown, entry: Entry): GuestFault;
  dispose(): void;
}

export function createTimedIsolate(host: GuestHost, memoryMb: number, run: RunNonce): TimedIsolate {
  const { meter, watchdog } = host;
  let cpuMs = 0;
  let current: Entry | undefined;

  const classify = (error: unknown, entry: Entry): GuestFault => {
    // It has its last words already.
    if (error instanceof GuestFault) return error;
    return entry.over ? cpuFault(entry.limitMs) : faultOf(error, memoryMb);
  };

  const isolate: TimedIsolate = {
    vm: new host.ivm.Isolate({
      memoryLimit: memoryMb,
      onCatastrophicError: (message) => host.onCatastrophe(isolate, message),
    }),
    currentRun: run,
    get cpuMs() {
      return cpuMs;
    },
    classify,
    async timed(limitMs, work) {
      meter.enter();
      const entry: Entry = { isolate, hadAtStartMs: meter.hadMs(), limitMs, over: false };
      current = entry;
      watchdog.add(entry);
      try {
        const result = await work(entry);
        if (!entry.over) return result;
      } catch (error) {
        throw classify(error, entry);
      } finally {
        watchdog.remove(entry);
        current = undefined;
        meter.leave();
        cpuMs += Math.max(0, meter.hadMs() - entry.hadAtStartMs);
      }
      throw cpuFault(limitMs);
    },
    dispose() {
      if (current) current.disposedAtMs ??= meter.hadMs();
      if (!isolate.vm.isDisposed) isolate.vm.dispose();
    },
  };
  return isolate;
}
