// An isolate whose every entry is timed. No entry has a `timeout` of isolated-vm's, which is the wall's and would stop honest code
// on a busy machine; the watchdog ends those that have had their processor time.
import type IsolatedVm from 'isolated-vm';
import type { RunNonce } from '../protocol.ts';
import { cpuFault, faultOf, GuestFault, loadingFault } from './fault.ts';
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
  /** Guest code is about to run. Every entry is ended, however it came out; one that is `over` then has failed. */
  begin(limitMs: number): Entry;
  end(entry: Entry): void;
  /** What an error in an entry means. */
  faultOf(error: unknown, entry: Entry): GuestFault;
  /** A part of loading the plugin, as one entry. @throws GuestFault */
  timed<T>(limitMs: number, work: () => Promise<T>): Promise<T>;
  dispose(): void;
}

export function createTimedIsolate(host: GuestHost, memoryMb: number, run: RunNonce): TimedIsolate {
  const { meter, watchdog } = host;
  let cpuMs = 0;
  let current: Entry | undefined;

  const isolate: TimedIsolate = {
    vm: new host.ivm.Isolate({
      memoryLimit: memoryMb,
      onCatastrophicError: (message) => host.onCatastrophe(isolate, message),
    }),
    currentRun: run,
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
      cpuMs += Math.max(0, meter.leave() - entry.hadAtStartMs);
    },
    faultOf(error, entry) {
      if (error instanceof GuestFault) return error;
      return entry.over ? cpuFault(entry.limitMs) : faultOf(error, memoryMb);
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
