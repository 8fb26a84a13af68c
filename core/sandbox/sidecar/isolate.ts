// One guest: an isolate with the guest program and one plugin module in it, and the only way in, `enter`: a `step` and a `drain`,
// queued together so that they cost one wake of the isolate's thread.
import type IsolatedVm from 'isolated-vm';
import type { RunLimits, RunNonce } from '../protocol.ts';
import { GuestFault, startupFault } from './fault.ts';
import { recorderUnits } from './guest/recorder.ts';
import { createTimedIsolate, type GuestHost, type TimedIsolate } from './timed-isolate.ts';

type Text = IsolatedVm.Reference<(...args: (string | number)[]) => string>;
type Register = IsolatedVm.Reference<(definition: unknown) => string>;

/** Above this the drained text is the work of a guest that has broken its own caps. */
const drainUnitsMax = 14_000_000;

export interface Guest {
  readonly isolate: TimedIsolate;
  readonly sha256: string;
  readonly memoryMb: number;
  lastUsedAt: number;
  memoryBytes: number;
  runs: number;
  /** Gives `ops` to the guest, lets its microtasks run, and returns what it has to say. @throws GuestFault */
  enter(ops: (string | number)[], limitMs: number): Promise<string>;
  /** Keeps how much memory it holds in `memoryBytes`. */
  measureMemory(): Promise<void>;
}

export interface GuestOrder {
  readonly sha256: string;
  readonly source: string;
  readonly limits: RunLimits;
  readonly run: RunNonce;
}

/** @throws GuestFault; the isolate is then gone. */
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

/** The definition's static part as JSON text; the isolate is thrown away. @throws GuestFault */
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
  /** Gives the plugin's definition to the entrance. @throws GuestFault */
  enterDefinition(): Promise<string>;
}

async function openGuest(
  host: GuestHost,
  { sha256, source, limits, run }: GuestOrder,
  entrance: 'register' | 'describe',
): Promise<OpenedGuest> {
  const isolate = createTimedIsolate(host, limits.memoryMb, run);
  /** See `guest/recorder.ts`; may still be written to by a thread that does not stop. */
  const recorder = new Uint16Array(new SharedArrayBuffer(recorderUnits * 2));
  try {
    const context = await isolate.vm.createContext();
    const bridge = await installProgram(host, context, recorder);
    const step = (await bridge.get('step', { reference: true })) as Text;
    const drain = (await bridge.get('drain', { reference: true })) as Text;
    const register = (await bridge.get(entrance, { reference: true })) as Register;
    await context.global.delete('tatamiBridge');
    const definition = await isolate.timed(limits.startupMs, () => evaluate(isolate, context, source));
    const enterDefinition = async (): Promise<string> =>
      checkText(
        await isolate.timed(limits.startupMs, () => register.apply(undefined, [definition.derefInto()])),
      );
    const guest = guestIn(isolate, { sha256, memoryMb: limits.memoryMb }, { step, drain, recorder });
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
      `The bundle imports ${JSON.stringify(module.dependencySpecifiers[0])}; a plugin is one module without imports.`,
    );
  }
  await module.instantiate(context, () => {
    throw new Error('unreachable: imports were refused');
  });
  await module.evaluate();
  return (await module.namespace.get('default', { reference: true })) as IsolatedVm.Reference<unknown>;
}

function guestIn(
  isolate: TimedIsolate,
  code: Pick<Guest, 'sha256' | 'memoryMb'>,
  { step, drain, recorder }: { step: Text; drain: Text; recorder: Uint16Array },
): Guest {
  const guest: Guest = {
    isolate,
    ...code,
    lastUsedAt: 0,
    memoryBytes: 0,
    runs: 0,
    async enter(ops, limitMs) {
      const text = await isolate.timed(limitMs, async (entry) => {
        const stepped = step.apply(undefined, ops);
        const drained = drain.apply(undefined, []);
        drained.catch(() => undefined);
        try {
          await stepped;
        } catch (error) {
          const fault = isolate.classify(error, entry);
          fault.lastWords = await drained.then(checkText).catch(() => lastWordsOf(recorder));
          throw fault;
        }
        return drained;
      });
      return checkText(text);
    },
    async measureMemory() {
      const heap = await isolate.vm.getHeapStatistics();
      guest.memoryBytes = heap.used_heap_size + heap.externally_allocated_size;
    },
  };
  return guest;
}

function lastWordsOf(recorder: Uint16Array): string {
  const units = recorder.slice(1, 1 + Math.min(recorder[0] ?? 0, recorderUnits - 1));
  return `[${Buffer.from(units.buffer, 0, units.byteLength).toString('utf16le')}]`;
}

function checkText(value: unknown): string {
  if (typeof value !== 'string')
    throw new GuestFault('protocol', 'The guest program returned something other than text.');
  if (value.length > drainUnitsMax)
    throw new GuestFault('protocol', 'The guest program returned more text than it may.');
  return value;
}
