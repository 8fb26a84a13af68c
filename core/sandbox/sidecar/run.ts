// One run inside a guest: feeds it the core's messages entry by entry, passes its calls and logs on, and says how it
// ended.
import type { EndReason, FromSidecar, LogLevel, RunEnd, RunLimits, RunNonce } from '../protocol.ts';
import {
  callsPerFrameMax,
  kvTextMax,
  logTextMax,
  msMax,
  opMax,
  readProgress,
  textMaxOf,
} from '../protocol.ts';
import { GuestFault } from './isolate.ts';
import type { Guest } from './isolate.ts';
import type { Send } from './wire.ts';

type Drained = Extract<FromSidecar, { t: 'drained' }>;

export class GuestRun {
  readonly run: RunNonce;
  readonly guest: Guest;
  #limits: RunLimits;
  #send: Send;
  #finish: (end: RunEnd) => void;
  /** For the next entry; its first element is what is left of the processor time by then. */
  #ops: (string | number)[] = [0];
  #received = 0;
  #acked = 0;
  #pumping = false;
  #ended = false;
  #cpuAtStartMs: number;

  constructor(run: RunNonce, guest: Guest, limits: RunLimits, send: Send, finish: (end: RunEnd) => void) {
    this.run = run;
    this.guest = guest;
    this.#limits = limits;
    this.#send = send;
    this.#finish = finish;
    this.#cpuAtStartMs = guest.cpuMs;
  }

  get cpuMs(): number {
    return Math.max(0, this.guest.cpuMs - this.#cpuAtStartMs);
  }

  start(handler: string, input: string): void {
    const { calls, concurrentCalls, logBytes, logLines } = this.#limits;
    this.#ops.push('limits', '', JSON.stringify({ calls, concurrentCalls, logBytes, logLines }), 0);
    this.give('start', handler, input, 0);
  }

  give(kind: 'start' | 'answer' | 'refuse', id: string, text: string, elapsedMs: number): void {
    this.#received++;
    if (this.#ended) return;
    this.#ops.push(kind, id, text, elapsedMs);
    if (!this.#pumping) void this.#pump();
  }

  /** Ends the run from outside; what the guest still says is dropped. */
  end(end: RunEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#finish(end);
  }

  async #pump(): Promise<void> {
    this.#pumping = true;
    while (this.#ops.length > 1 && !this.#ended) {
      const ops = this.#ops;
      const acked = this.#received;
      this.#ops = [0];
      const leftMs = Math.max(this.#limits.cpuMs - this.cpuMs, leftMsMin);
      ops[0] = leftMs;
      try {
        const text = await this.guest.enter(ops, Math.min(this.#limits.entryMs, leftMs));
        if (!this.#ended) this.#deliver(text, acked);
      } catch (error) {
        this.#sendLastLogs(error);
        this.end(isCpuFault(error) && this.#isOver() ? this.#overspent() : endOf(error));
      }
    }
    this.#pumping = false;
  }

  #sendLastLogs(error: unknown): void {
    if (!(error instanceof GuestFault) || error.lastWords === '[]') return;
    const message: Drained = { t: 'drained', run: this.run, acked: this.#received, calls: [], logs: [] };
    try {
      readOutbox(error.lastWords, message);
    } catch {
      return;
    }
    this.#send({ ...message, calls: [] });
  }

  #deliver(text: string, acked: number): void {
    const message: Drained = { t: 'drained', run: this.run, acked, calls: [], logs: [] };
    const end = text === '[]' ? undefined : readOutbox(text, message);
    // An end says by itself that all was consumed.
    if (!end || message.calls.length > 0 || message.logs.length > 0)
      for (const part of inParts(message, this.#acked)) this.#send(part);
    this.#acked = acked;
    if (this.#isOver()) this.end(this.#overspent());
    else if (end) this.end(end);
  }

  #isOver(): boolean {
    return this.cpuMs > this.#limits.cpuMs;
  }

  #overspent(): RunEnd {
    const used = Math.round(this.cpuMs);
    return killedFor(
      'cpu',
      `The run used ${used} ms of processor time; ${this.#limits.cpuMs} ms are allowed.`,
    );
  }
}

/** An entry can hardly use less. */
const leftMsMin = 5;

function isCpuFault(error: unknown): boolean {
  return error instanceof GuestFault && error.reason === 'cpu';
}

export function endOf(error: unknown): RunEnd {
  if (!(error instanceof GuestFault)) return killedFor('protocol', 'The guest sent text that is no message.');
  if (error.reason === 'disposed') return { status: 'stopped' };
  const harmless = error.reason === 'startup' || error.reason === 'rejection';
  return { status: 'failed', reason: error.reason, message: error.message, killed: !harmless };
}

function killedFor(reason: EndReason, message: string): RunEnd {
  return { status: 'failed', reason, message, killed: true };
}

const logLevels: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[];

/** Reads the outbox into `into`; entries after the end of the run are dropped. @throws Error on anything unknown */
function readOutbox(text: string, into: Drained): RunEnd | undefined {
  let logUnitsLeft = logTextMax;
  for (const entry of JSON.parse(text) as unknown[][]) {
    const [kind, first, second, third] = entry;
    if (kind === 'c' && isCall(first, second, third) && into.calls.length < callsPerFrameMax)
      into.calls.push([first as number, second as string, third as string]);
    else if (kind === 'l' && logLevels.includes(first) && typeof second === 'string') {
      const line = second.slice(0, logUnitsLeft);
      logUnitsLeft -= line.length;
      into.logs.push([first as LogLevel, line]);
    } else if (kind === 'd') return success(first);
    else if (kind === 'x') return failure(first, second, third);
    else throw new Error('unknown entry');
  }
  return undefined;
}

function success(given: unknown): RunEnd {
  if (given === undefined) return { status: 'succeeded' };
  const progress = readProgress(given);
  if (!progress) throw new Error('unknown progress');
  return { status: 'succeeded', progress };
}

function isCall(call: unknown, op: unknown, args: unknown): boolean {
  return (
    Number.isSafeInteger(call) &&
    typeof op === 'string' &&
    op.length <= opMax &&
    typeof args === 'string' &&
    args.length <= textMaxOf(op)
  );
}

/** The core takes no frame larger than the largest call; all but the last part acknowledge nothing new. */
function inParts(message: Drained, ackedBefore: number): Drained[] {
  const parts: Drained[] = [];
  let part: Drained = { ...message, calls: [], logs: message.logs };
  let units = 0;
  for (const call of message.calls) {
    units += call[2].length;
    if (units > kvTextMax && part.calls.length > 0) {
      parts.push({ ...part, acked: ackedBefore });
      part = { ...message, calls: [], logs: [] };
      units = call[2].length;
    }
    part.calls.push(call);
  }
  return [...parts, part];
}

const guestReasons: readonly unknown[] = [
  'error',
  'retry_later',
  'drop',
  'call_budget',
] satisfies EndReason[];

function failure(reason: unknown, message: unknown, afterMs: unknown): RunEnd {
  if (!guestReasons.includes(reason) || typeof message !== 'string') throw new Error('unknown failure');
  const end = { status: 'failed', reason: reason as EndReason, message, killed: false } as const;
  if (typeof afterMs !== 'number' || reason !== 'retry_later') return end;
  return { ...end, retryAfterMs: Math.min(Math.max(0, afterMs), msMax) };
}
