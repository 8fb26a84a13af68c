// An isolate that measures the CPU time of every entry. Entries do not use isolated-vm's `timeout`, which is wall time and would stop
// correct code on a busy machine; the watchdog ends entries that exceed their CPU limit.
import type IsolatedVm from 'isolated-vm';
import type { RunNonce } from '../protocol.ts';
import { cpuFault, faultOf, GuestFault, loadingFault } from './fault.ts';
import type { CpuMeter } from './meter.ts';
import type { Watchdog } from './watchdog.ts';

export type Ivm = typeof IsolatedVm;

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

export interface GuestHost {
  ivm: Ivm;
  guestProgram: string;
  meter: CpuMeter;
  watchdog: Watchdog;
  /** Called when the isolate ran out of memory and its thread is blocked forever. */
  onCatastrophe(isolate: TimedIsolate, message: string): void;
}

export interface TimedIsolate {
  readonly vm: IsolatedVm.Isolate;
  /** Run that is the culprit if the thread does not stop. */
  currentRun: RunNonce;
  /** CPU time of all entries so far, loading included. */
  readonly cpuMs: number;
  /** Starts an entry. Every entry must be ended, also after an error; an entry that is `over` at its end has failed. */
  begin(limitMs: number): TimedEntry;
  end(entry: TimedEntry): void;
  /** Converts an error of an entry; an entry over its limit has a CPU fault. */
  faultOf(error: unknown, entry: TimedEntry): GuestFault;
  /** Runs a step of loading the plugin as one entry. @throws GuestFault */
  timed<T>(limitMs: number, work: () => Promise<T>): Promise<T>;
  dispose(): void;
}

export function createTimedIsolate(host: GuestHost, memoryMb: number, run: RunNonce): TimedIsolate {
  const { meter, watchdog } = host;
  let cpuMs = 0;
  let current: TimedEntry | undefined;

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
