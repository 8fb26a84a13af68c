// Executes one run in a guest: passes the core's messages to it entry by entry, forwards its calls and logs, and reports its end.
import type { EndReason, GuestOutput, RunEnd, RunLimits, RunNonce } from '../protocol.ts';
import { GuestFault } from './meter.ts';
import type { GuestCaller } from './entries.ts';
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
  readonly mayBlock: boolean;
  readonly send: Send;
  /** Called when messages wait; `enter` must follow. Messages until then arrive together, so that a plugin may await them in any order. */
  ready(run: GuestRun): void;
  /** Called when the handler has ended and not all of its calls. The run ends as `end` with `close`, or receives the answers. */
  offer(end: RunEnd): void;
  finish(end: RunEnd): void;
  /** Called after an accepted offer. */
  close(): void;
}

/** A class, because closures for each run cost measurable time in interpreted code. */
export class GuestRun implements GuestCaller {
  /** Number of the core's messages that the guest has consumed. */
  acked = 0;
  readonly #options: GuestRunOptions;
  readonly #cpuAtStartMs: number;
  /** Arguments of the next entry: the CPU time left in ms, then flat quadruples of kind, id, text and age of the run in ms. */
  #ops: (string | number)[] = [0];
  /** Numbers of the core's messages so far, and before the entry in progress. */
  #received = 0;
  #taken = 0;
  #inside = false;
  #ended = false;

  constructor(options: GuestRunOptions) {
    this.#options = options;
    this.#cpuAtStartMs = options.guest.isolate.cpuMs;
  }

  get cpuMs(): number {
    return Math.max(0, this.#options.guest.isolate.cpuMs - this.#cpuAtStartMs);
  }

  start(handler: string, input: string): void {
    const { guest, limits } = this.#options;
    const text = limitsText(limits);
    if (text !== guest.limitsText) this.#ops.push('limits', '', text, 0);
    guest.limitsText = text;
    this.give('start', handler, input, 0);
  }

  /** @param more true to deliver this message together with the next one */
  give(
    kind: 'start' | 'answer' | 'refuse',
    id: string | number,
    text: string,
    elapsedMs: number,
    more = false,
  ): void {
    if (this.#ended) return;
    this.#received++;
    this.#ops.push(kind, id, text, elapsedMs);
    if (this.#inside || more) return;
    this.#inside = true;
    this.#options.ready(this);
  }

  /** Ends the run from outside; later output of the guest is dropped. */
  end(how: RunEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.finish(how);
  }

  /** Ends the run as it was offered. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.close();
  }

  /** Enters the guest if messages wait. */
  enter(): void {
    this.#inside = this.#ops.length > 1 && !this.#ended;
    if (this.#inside) this.#options.guest.enter(this);
  }

  get mayBlock(): boolean {
    return this.#options.mayBlock;
  }

  get limitMs(): number {
    return Math.min(this.#options.limits.entryMs, this.#leftMs);
  }

  takeOps(): (string | number)[] {
    const ops = this.#ops;
    ops[0] = this.#leftMs;
    this.#ops = [0];
    this.#taken = this.#received;
    return ops;
  }

  get #leftMs(): number {
    return Math.max(this.#options.limits.cpuMs - this.cpuMs, leftMsMin);
  }

  said(outbox: GuestOutbox): void {
    if (!this.#ended) this.#hear(outbox);
    this.enter();
  }

  failed(fault: unknown): void {
    if (!this.#ended) {
      this.#say(lastWordsOf(fault));
      this.end(isCpuFault(fault) && this.#isOver ? this.#overspent() : endOf(fault));
    }
    this.enter();
  }

  #hear(outbox: GuestOutbox): void {
    const { parts, how, offered } = read(outbox);
    // The end of a run also acknowledges all messages.
    this.#say(parts.length > 0 || how ? parts : nothing);
    if (this.#isOver) this.end(this.#overspent());
    else if (how) this.end(how);
    else if (offered) this.#options.offer(offered);
  }

  /** Sends output of the guest to the core. Only the last part acknowledges new messages. */
  #say(parts: readonly GuestOutput[]): void {
    const { run, send } = this.#options;
    for (let i = 0; i < parts.length; i++) {
      const acked = i === parts.length - 1 ? this.#taken : this.acked;
      send({ t: 'drained', run, acked, said: parts[i]! });
    }
    this.acked = this.#taken;
  }

  get #isOver(): boolean {
    return this.cpuMs > this.#options.limits.cpuMs;
  }

  #overspent(): RunEnd {
    const used = Math.round(this.cpuMs);
    const { cpuMs } = this.#options.limits;
    const message = `The run used ${used} ms of CPU time; the limit is ${cpuMs} ms. Split the work into several runs.`;
    return killedFor('cpu', message);
  }
}

function lastWordsOf(error: unknown): readonly GuestOutput[] {
  const last = error instanceof GuestFault ? readRecorded(error.lastWords) : undefined;
  return last ? [last] : [];
}

interface Heard {
  readonly parts: readonly GuestOutput[];
  readonly how: RunEnd | undefined;
  readonly offered?: RunEnd | undefined;
}

function read(outbox: GuestOutbox): Heard {
  try {
    return { parts: readOutbox(outbox), how: readEnd(outbox.end), offered: readEnd(outbox.after) };
  } catch (error) {
    return { parts: [], how: endOf(error) };
  }
}

/** Returns the limits that the guest program enforces, as JSON. */
function limitsText({ calls, concurrentCalls, logBytes, logLines }: RunLimits): string {
  return JSON.stringify({ calls, concurrentCalls, logBytes, logLines });
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
