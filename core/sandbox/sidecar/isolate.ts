// One guest: an isolate with the guest program and one plugin module in it, and the only way in, `enter`: a `step` and
// a `drain`, queued together so that they cost one wake of the isolate's thread. No entry has a `timeout` of
// isolated-vm's, which is the wall's and would stop honest code on a busy machine; the watchdog ends those that have
// had their processor time.
import type IsolatedVm from 'isolated-vm';
import { recorderUnits } from './guest/recorder.ts';
import type { ProcessorMeter } from './meter.ts';
import type { Watchdog } from './watchdog.ts';
import type { RunLimits, RunNonce } from '../protocol.ts';

export type Ivm = typeof IsolatedVm;
type Text = IsolatedVm.Reference<(...args: (string | number)[]) => string>;
type Register = IsolatedVm.Reference<(definition: unknown) => string>;

/** Thrown for everything that ends a guest; `reason` says whose fault it was. */
export class GuestFault extends Error {
  /** What the guest wrote before: its log is worth having. */
  lastWords = '[]';
  readonly reason: 'cpu' | 'memory' | 'startup' | 'rejection' | 'protocol' | 'disposed';
  constructor(reason: GuestFault['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Guest code in progress. Times are of `ProcessorMeter.hadMs`. */
export interface Entry {
  guest: Guest;
  hadAtStartMs: number;
  limitMs: number;
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
  onCatastrophe(guest: Guest, message: string): void;
}

/** Above this the drained text is the work of a guest that has broken its own caps. */
const drainUnitsMax = 14_000_000;

export class Guest {
  readonly sha256: string;
  readonly memoryMb: number;
  lastUsedAt = 0;
  busy = false;
  memoryBytes = 0;
  runs = 0;
  /** Set for the duration of `load`; the watchdog names it in a taint. */
  currentRun: RunNonce = '';
  #host: GuestHost;
  #isolate: IsolatedVm.Isolate;
  #entry: Entry | undefined;
  /** Processor time of all entries so far, loading included. */
  cpuMs = 0;
  /** See `guest/recorder.ts`; may still be written to by a thread that does not stop. */
  #recorder = new Uint16Array(new SharedArrayBuffer(recorderUnits * 2));
  #step!: Text;
  #drain!: Text;

  private constructor(host: GuestHost, sha256: string, memoryMb: number, run: RunNonce) {
    this.#host = host;
    this.sha256 = sha256;
    this.memoryMb = memoryMb;
    this.currentRun = run;
    this.#isolate = new host.ivm.Isolate({
      memoryLimit: memoryMb,
      onCatastrophicError: (message) => host.onCatastrophe(this, message),
    });
  }

  /** @throws GuestFault; the isolate is then gone. */
  static async load(
    host: GuestHost,
    sha256: string,
    source: string,
    limits: RunLimits,
    run: RunNonce,
  ): Promise<{ guest: Guest; handlers: string }> {
    const { guest, register, definition } = await Guest.#open(host, sha256, source, limits, run, 'register');
    try {
      const handlers = await guest.#timed(limits.startupMs, () =>
        register.apply(undefined, [definition.derefInto()]),
      );
      return { guest, handlers: checkText(handlers) };
    } catch (error) {
      guest.dispose();
      throw startupFault(error);
    }
  }

  /** The definition's static part as JSON text; the isolate is thrown away. @throws GuestFault */
  static async describe(host: GuestHost, source: string, limits: RunLimits, run: RunNonce): Promise<string> {
    const { guest, register, definition } = await Guest.#open(host, '', source, limits, run, 'describe');
    try {
      return checkText(
        await guest.#timed(limits.startupMs, () => register.apply(undefined, [definition.derefInto()])),
      );
    } catch (error) {
      throw startupFault(error);
    } finally {
      guest.dispose();
    }
  }

  static async #open(
    host: GuestHost,
    sha256: string,
    source: string,
    limits: RunLimits,
    run: RunNonce,
    entrance: 'register' | 'describe',
  ): Promise<{ guest: Guest; register: Register; definition: IsolatedVm.Reference<unknown> }> {
    const guest = new Guest(host, sha256, limits.memoryMb, run);
    try {
      const context = await guest.#isolate.createContext();
      const recorder = new host.ivm.ExternalCopy(guest.#recorder.buffer).copyInto({ release: true });
      await context.global.set('tatamiRecorder', recorder);
      await context.eval(host.guestProgram, { filename: 'tatami:guest' });
      const bridge = (await context.global.get('tatamiBridge', { reference: true })) as IsolatedVm.Reference<
        Record<string, unknown>
      >;
      guest.#step = (await bridge.get('step', { reference: true })) as Text;
      guest.#drain = (await bridge.get('drain', { reference: true })) as Text;
      const register = (await bridge.get(entrance, { reference: true })) as Register;
      await context.global.delete('tatamiBridge');
      const definition = await guest.#timed(limits.startupMs, () => guest.#evaluate(context, source));
      return { guest, register, definition };
    } catch (error) {
      guest.dispose();
      throw startupFault(error);
    }
  }

  async #evaluate(context: IsolatedVm.Context, source: string): Promise<IsolatedVm.Reference<unknown>> {
    const module = await this.#isolate.compileModule(source, { filename: 'plugin.js' });
    if (module.dependencySpecifiers.length > 0) {
      throw new GuestFault(
        'startup',
        `The bundle imports ${JSON.stringify(module.dependencySpecifiers[0])}; a plugin is one module without imports.`,
      );
    }
    await module.instantiate(context, () => {
      throw new Error('unreachable: imports were refused');
    });
    await module.evaluate();
    return (await module.namespace.get('default', { reference: true })) as IsolatedVm.Reference<unknown>;
  }

  /** Gives `ops` to the guest, lets its microtasks run, and returns what it has to say. @throws GuestFault */
  async enter(ops: (string | number)[], limitMs: number): Promise<string> {
    const text = await this.#timed(limitMs, async (entry) => {
      const stepped = this.#step.apply(undefined, ops);
      const drained = this.#drain.apply(undefined, []);
      drained.catch(() => undefined);
      try {
        await stepped;
      } catch (error) {
        const fault = this.#classify(error, entry);
        fault.lastWords = await drained.then(checkText).catch(() => this.#lastWords());
        throw fault;
      }
      return drained;
    });
    return checkText(text);
  }

  #lastWords(): string {
    const units = this.#recorder.slice(1, 1 + Math.min(this.#recorder[0] ?? 0, recorderUnits - 1));
    return `[${Buffer.from(units.buffer, 0, units.byteLength).toString('utf16le')}]`;
  }

  async #timed<T>(limitMs: number, work: (entry: Entry) => Promise<T>): Promise<T> {
    const { meter, watchdog } = this.#host;
    meter.enter();
    const entry: Entry = { guest: this, hadAtStartMs: meter.hadMs(), limitMs, over: false };
    this.#entry = entry;
    watchdog.add(entry);
    try {
      const result = await work(entry);
      if (!entry.over) return result;
    } catch (error) {
      throw this.#classify(error, entry);
    } finally {
      watchdog.remove(entry);
      this.#entry = undefined;
      meter.leave();
      this.cpuMs += Math.max(0, meter.hadMs() - entry.hadAtStartMs);
    }
    throw cpuFault(limitMs);
  }

  #classify(error: unknown, entry: Entry): GuestFault {
    if (error instanceof GuestFault) return error;
    if (entry.over) return cpuFault(entry.limitMs);
    const message = error instanceof Error ? String(error.message).slice(0, 2000) : 'unknown';
    if (/memory limit|out of memory|catastrophic/i.test(message))
      return new GuestFault('memory', `The plugin needed more than ${this.memoryMb} MB.`);
    if (/disposed/.test(message)) return new GuestFault('disposed', message);
    return new GuestFault('rejection', message);
  }

  async measureMemory(): Promise<number> {
    const heap = await this.#isolate.getHeapStatistics();
    this.memoryBytes = heap.used_heap_size + heap.externally_allocated_size;
    return this.memoryBytes;
  }

  dispose(): void {
    if (this.#entry) this.#entry.disposedAtMs ??= this.#host.meter.hadMs();
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
  }
}

function cpuFault(limitMs: number): GuestFault {
  return new GuestFault(
    'cpu',
    `One stretch of code used more than ${Math.round(limitMs)} ms of processor time.`,
  );
}

function checkText(value: unknown): string {
  if (typeof value !== 'string')
    throw new GuestFault('protocol', 'The guest program returned something other than text.');
  if (value.length > drainUnitsMax)
    throw new GuestFault('protocol', 'The guest program returned more text than it may.');
  return value;
}

/** While loading, the module's own errors are startup errors; limits keep their names. */
function startupFault(error: unknown): GuestFault {
  if (error instanceof GuestFault && error.reason !== 'rejection') return error;
  return new GuestFault(
    'startup',
    error instanceof Error ? String(error.message).slice(0, 2000) : 'The module failed to load.',
  );
}
