/**
 * One guest: an isolate with the guest program and one plugin module in it, and the only way in, `enter`: a timed `step` and a timed
 * `drain`, queued together so that they cost one wake of the isolate's thread.
 */
import type IsolatedVm from 'isolated-vm';
import type { RunLimits, RunNonce } from '../protocol.ts';

export type Ivm = typeof IsolatedVm;
type Text = IsolatedVm.Reference<(...args: (string | number)[]) => string>;
type Register = IsolatedVm.Reference<(definition: unknown) => string>;

/** Thrown for everything that ends a guest; `reason` says whose fault it was. */
export class GuestFault extends Error {
  /** What the guest wrote before: its log is worth having. */
  lastWords = '[]';
  readonly reason: 'cpu' | 'memory' | 'startup' | 'rejection' | 'protocol' | 'starved' | 'disposed';
  constructor(reason: GuestFault['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface Entry {
  guest: Guest;
  startedAt: number;
  cpuAtStartMs: number;
  timeoutMs: number;
  disposedAt?: number;
}

export interface GuestHost {
  ivm: Ivm;
  guestProgram: string;
  /** Entries in progress, for the watchdog. */
  entries: Set<Entry>;
  /** The isolate ran out of memory so badly that its thread is parked for ever. */
  onCatastrophe(guest: Guest, message: string): void;
}

/** Handing over the outbox is quick; microtasks left over from a stopped entry get no second helping. */
const DRAIN_MS = 50;
/** Above this the drained text is the work of a guest that has broken its own caps. */
const DRAIN_UNITS_MAX = 14_000_000;

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
  #cpuMs = 0;
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
        register.apply(undefined, [definition.derefInto()], { timeout: limits.startupMs }),
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
        await guest.#timed(limits.startupMs, () =>
          register.apply(undefined, [definition.derefInto()], { timeout: limits.startupMs }),
        ),
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
      await context.eval(host.guestProgram, { filename: 'tatami:guest', timeout: 1000 });
      const bridge = (await context.global.get('tatamiBridge', { reference: true })) as IsolatedVm.Reference<
        Record<string, unknown>
      >;
      guest.#step = (await bridge.get('step', { reference: true })) as Text;
      guest.#drain = (await bridge.get('drain', { reference: true })) as Text;
      const register = (await bridge.get(entrance, { reference: true })) as Register;
      await context.global.delete('tatamiBridge');
      const definition = await guest.#timed(limits.startupMs, () =>
        guest.#evaluate(context, source, limits.startupMs),
      );
      return { guest, register, definition };
    } catch (error) {
      guest.dispose();
      throw startupFault(error);
    }
  }

  async #evaluate(
    context: IsolatedVm.Context,
    source: string,
    timeoutMs: number,
  ): Promise<IsolatedVm.Reference<unknown>> {
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
    await module.evaluate({ timeout: timeoutMs });
    return (await module.namespace.get('default', { reference: true })) as IsolatedVm.Reference<unknown>;
  }

  /** Of the isolate's life so far; what was last known once it is disposed. */
  get cpuMs(): number {
    if (!this.#isolate.isDisposed) this.#cpuMs = Number(this.#isolate.cpuTime) / 1e6;
    return this.#cpuMs;
  }

  /** Gives `ops` to the guest, lets its microtasks run, and returns what it has to say. @throws GuestFault */
  async enter(ops: (string | number)[], timeoutMs: number): Promise<string> {
    const text = await this.#timed(timeoutMs, async (entry) => {
      const stepped = this.#step.apply(undefined, ops, { timeout: timeoutMs });
      const drained = this.#drain.apply(undefined, [], { timeout: Math.min(timeoutMs, DRAIN_MS) });
      drained.catch(() => undefined);
      try {
        await stepped;
      } catch (error) {
        const fault = this.#classify(error, entry);
        fault.lastWords = await drained.then(checkText).catch(() => '[]');
        throw fault;
      }
      return drained;
    });
    return checkText(text);
  }

  async #timed<T>(timeoutMs: number, work: (entry: Entry) => Promise<T>): Promise<T> {
    const entry: Entry = { guest: this, startedAt: performance.now(), cpuAtStartMs: this.cpuMs, timeoutMs };
    this.#host.entries.add(entry);
    try {
      return await work(entry);
    } catch (error) {
      throw this.#classify(error, entry);
    } finally {
      this.#host.entries.delete(entry);
    }
  }

  #classify(error: unknown, entry: Entry): GuestFault {
    if (error instanceof GuestFault) return error;
    const message = error instanceof Error ? String(error.message).slice(0, 2000) : 'unknown';
    if (/timed out/.test(message)) return this.#timeoutFault(entry, message);
    if (/memory limit|out of memory|catastrophic/i.test(message))
      return new GuestFault('memory', `The plugin needed more than ${this.memoryMb} MB.`);
    if (entry.disposedAt !== undefined || /disposed/.test(message))
      return new GuestFault('disposed', message);
    return new GuestFault('rejection', message);
  }

  #timeoutFault(entry: Entry, message: string): GuestFault {
    const usedMs = this.cpuMs - entry.cpuAtStartMs;
    if (usedMs < entry.timeoutMs / 2)
      return new GuestFault(
        'starved',
        `${message} It had the processor for ${Math.round(usedMs)} ms of ${entry.timeoutMs}.`,
      );
    return new GuestFault('cpu', `One stretch of code ran longer than ${entry.timeoutMs} ms.`);
  }

  async measureMemory(): Promise<number> {
    const heap = await this.#isolate.getHeapStatistics();
    this.memoryBytes = heap.used_heap_size + heap.externally_allocated_size;
    return this.memoryBytes;
  }

  dispose(): void {
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
  }
}

function checkText(value: unknown): string {
  if (typeof value !== 'string')
    throw new GuestFault('protocol', 'The guest program returned something other than text.');
  if (value.length > DRAIN_UNITS_MAX)
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
