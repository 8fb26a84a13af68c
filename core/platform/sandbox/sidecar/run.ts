// Executes one run in a guest: passes the core's messages to it entry by entry, forwards its calls and logs, and reports its end.
import type { EndReason, RunEnd, RunLimits, RunNonce, GuestOutput } from '../protocol.ts';
import { GuestFault } from './meter.ts';
import type { Guest, TimedIsolate } from './isolate.ts';
import type { GuestOutbox } from './guest/bridge.ts';
import { readEnd, readOutbox, readRecorded, type Send } from './outbox.ts';

/** Minimum CPU budget of an entry. */
const leftMsMin = 5;

/** An empty message that only acknowledges. */
const nothing: readonly GuestOutput[] = [{ heads: '', texts: '' }];

/** Parts of a guest that a run uses. */
interface RunningGuest {
  readonly isolate: { readonly cpuMs: TimedIsolate['cpuMs'] };
  readonly enter: Guest['enter'];
  limitsText: Guest['limitsText'];
}

export interface GuestRunOptions {
  readonly run: RunNonce;
  readonly guest: RunningGuest;
  readonly limits: RunLimits;
  readonly send: Send;
  finish(end: RunEnd): void;
}

export interface GuestRun {
  readonly cpuMs: number;
  /** Number of the core's messages that the guest has consumed. */
  acked(): number;
  start(handler: string, input: string): void;
  /** @param more true to deliver this message together with the next one */
  give(
    kind: 'start' | 'answer' | 'refuse',
    id: string,
    text: string,
    elapsedMs: number,
    more?: boolean,
  ): void;
  /** Ends the run from outside; later output of the guest is dropped. */
  end(end: RunEnd): void;
}

export function createGuestRun({ run, guest, limits, send, finish }: GuestRunOptions): GuestRun {
  const budget = createBudget(guest, limits);
  const inbox = createInbox();
  const reporter = createReporter(run, send);
  let inside = false;
  let ended = false;

  const end = (how: RunEnd): void => {
    if (ended) return;
    ended = true;
    finish(how);
  };

  const fail = (error: unknown, received: number): void => {
    reporter.say(lastWordsOf(error), received);
    end(isCpuFault(error) && budget.isOver() ? budget.overspent() : endOf(error));
  };

  const hear = (outbox: GuestOutbox, received: number): void => {
    const { parts, how } = read(outbox);
    // The end of a run also acknowledges all messages.
    reporter.say(parts.length > 0 || how ? parts : nothing, received);
    if (budget.isOver()) end(budget.overspent());
    else if (how) end(how);
  };

  /** Enters the guest with all waiting messages, and repeats until none is left. */
  const enter = (): void => {
    inside = !inbox.isEmpty && !ended;
    if (!inside) return;
    const { received } = inbox;
    const leftMs = budget.leftMs();
    guest.enter(
      inbox.take(leftMs),
      Math.min(limits.entryMs, leftMs),
      (outbox) => {
        if (!ended) hear(outbox, received);
        enter();
      },
      (fault) => {
        if (!ended) fail(fault, received);
        enter();
      },
    );
  };

  const give: GuestRun['give'] = (kind, id, text, elapsedMs, more = false) => {
    if (ended) return;
    inbox.receive(kind, id, text, elapsedMs);
    if (!inside && !more) enter();
  };

  return {
    get cpuMs() {
      return budget.cpuMs();
    },
    acked: reporter.acked,
    start(handler, input) {
      const text = limitsText(limits);
      if (text !== guest.limitsText) inbox.add('limits', '', text, 0);
      guest.limitsText = text;
      give('start', handler, input, 0);
    },
    give,
    end,
  };
}

function lastWordsOf(error: unknown): readonly GuestOutput[] {
  const last = error instanceof GuestFault ? readRecorded(error.lastWords) : undefined;
  return last ? [last] : [];
}

function read(outbox: GuestOutbox): { parts: readonly GuestOutput[]; how: RunEnd | undefined } {
  try {
    return { parts: readOutbox(outbox), how: readEnd(outbox) };
  } catch (error) {
    return { parts: [], how: endOf(error) };
  }
}

/**
 * Collects the arguments of the next entry: the remaining CPU time in ms, then flat quadruples of kind, id,
 * text and age of the run in ms.
 */
function createInbox() {
  let ops: (string | number)[] = [0];
  let received = 0;
  const add = (kind: string, id: string, text: string, elapsedMs: number): void =>
    void ops.push(kind, id, text, elapsedMs);
  return {
    /** Number of the core's messages so far. */
    get received() {
      return received;
    },
    get isEmpty() {
      return ops.length === 1;
    },
    add,
    receive(kind: string, id: string, text: string, elapsedMs: number): void {
      received++;
      add(kind, id, text, elapsedMs);
    },
    take(leftMs: number): (string | number)[] {
      const taken = ops;
      taken[0] = leftMs;
      ops = [0];
      return taken;
    },
  };
}

/** Sends the guest's output to the core; `ackedNow` counts the core's messages that the guest had consumed by then. */
function createReporter(run: RunNonce, send: Send) {
  let acked = 0;
  return {
    acked: () => acked,
    say(parts: readonly GuestOutput[], ackedNow: number): void {
      // Only the last part acknowledges new messages.
      for (let i = 0; i < parts.length; i++)
        send({ t: 'drained', run, acked: i === parts.length - 1 ? ackedNow : acked, said: parts[i]! });
      acked = ackedNow;
    },
  };
}

/** Returns the limits that the guest program enforces, as JSON. */
function limitsText({ calls, concurrentCalls, logBytes, logLines }: RunLimits): string {
  return JSON.stringify({ calls, concurrentCalls, logBytes, logLines });
}

function createBudget({ isolate }: RunningGuest, limits: RunLimits) {
  const cpuAtStartMs = isolate.cpuMs;
  const cpuMs = (): number => Math.max(0, isolate.cpuMs - cpuAtStartMs);
  return {
    cpuMs,
    leftMs: () => Math.max(limits.cpuMs - cpuMs(), leftMsMin),
    isOver: () => cpuMs() > limits.cpuMs,
    overspent(): RunEnd {
      const used = Math.round(cpuMs());
      const message = `The run used ${used} ms of CPU time; the limit is ${limits.cpuMs} ms. Split the work into several runs.`;
      return killedFor('cpu', message);
    },
  };
}

function isCpuFault(error: unknown): boolean {
  return error instanceof GuestFault && error.reason === 'cpu';
}

export function endOf(error: unknown): RunEnd {
  if (!(error instanceof GuestFault)) return killedFor('protocol', 'The guest returned invalid output.');
  if (error.reason === 'disposed') return { status: 'stopped' };
  const harmless = error.reason === 'startup' || error.reason === 'rejection';
  const { reason, message, thrownStack: stack } = error;
  return { status: 'failed', reason, message, killed: !harmless, ...(stack === undefined ? {} : { stack }) };
}

function killedFor(reason: EndReason, message: string): RunEnd {
  return { status: 'failed', reason, message, killed: true };
}
