// Enters a guest for its runs: passes what waits for a run to the guest program, waits until all promises of the guest settle, and
// reports the output. A guest whose entries are short is entered on the main thread, others on a thread of isolated-vm.
import type IsolatedVm from 'isolated-vm';
import type { GuestOutbox } from './guest/bridge.ts';
import { recorderUnits } from './guest/recorder.ts';
import { inlineMsMax, type Inline } from './inline.ts';
import type { Guest, TimedEntry, TimedIsolate } from './isolate.ts';
import { cpuFault, GuestFault } from './meter.ts';

export type Step = IsolatedVm.Reference<(...args: (string | number)[]) => GuestOutbox>;
/** Options of every entry, shared because isolated-vm reads them each time. */
const copied = { result: { copy: true } } as const;
const copiedInTime = { ...copied, timeout: inlineMsMax } as const;

/** A run that enters its guest. */
export interface GuestCaller {
  /** True if the guest may be entered on the main thread. */
  readonly mayBlock: boolean;
  /** Limit of CPU time of the next entry. */
  readonly limitMs: number;
  /** Returns the arguments of the guest program's `step` for the next entry. */
  takeOps(): (string | number)[];
  said(outbox: GuestOutbox): void;
  /** @param fault a GuestFault */
  failed(fault: unknown): void;
}

/** Creates `enter` of a guest, which has one entry at a time, so that one set of functions serves all of them. */
export function createEntries(
  inline: Inline,
  isolate: TimedIsolate,
  { step, recorder }: { step: Step; recorder: Uint16Array },
): Guest['enter'] {
  const proof = inline.newProof();
  let caller: GuestCaller;
  let entry: TimedEntry;
  let ops: (string | number)[];
  let outbox: GuestOutbox | undefined;
  let fault: GuestFault | undefined;

  const onThread = (): void => {
    isolate.isOnMain = false;
    entry = isolate.begin(caller.limitMs);
    applied(step, ops).then(said, failed);
  };
  const said = (written: GuestOutbox): void => {
    proof.note(isolate.end(entry));
    if (entry.over) caller.failed(withLastWords(cpuFault(entry.limitMs), recorder));
    else caller.said(written);
  };
  const failed = (error: unknown): void => {
    isolate.end(entry);
    caller.failed(withLastWords(isolate.faultOf(error, entry), recorder));
  };

  const apply = (): void => {
    try {
      outbox = step.applySync(undefined, ops, copiedInTime);
    } catch (error) {
      fault = isolate.faultOf(error);
    }
  };
  const onMain = (): void => {
    isolate.isOnMain = true;
    outbox = fault = undefined;
    const usedMs = inline.measure(apply);
    isolate.spend(usedMs);
    proof.note(usedMs);
    if (usedMs > caller.limitMs || (!outbox && inline.wasLong)) caller.failed(endedOnMain());
    else if (outbox) caller.said(outbox);
    else caller.failed(withLastWords(fault!, recorder));
  };

  return (next) => {
    caller = next;
    ops = caller.takeOps();
    if (caller.mayBlock && proof.isGiven) onMain();
    else onThread();
  };
}

/** The time says little about the guest, so the core repeats the run on another thread, where its CPU time is measured. */
function endedOnMain(): GuestFault {
  return new GuestFault('disposed', 'The entry took too long for the main thread.');
}

/** Rejects instead of throwing. */
function applied(step: Step, ops: (string | number)[]): Promise<GuestOutbox> {
  try {
    return step.apply(undefined, ops, copied);
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

function withLastWords(fault: GuestFault, recorder: Uint16Array): GuestFault {
  const units = recorder.slice(1, 1 + Math.min(recorder[0] ?? 0, recorderUnits - 1));
  fault.lastWords = Buffer.from(units.buffer, 0, units.byteLength).toString('utf16le');
  return fault;
}
