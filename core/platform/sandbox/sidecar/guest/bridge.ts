// The guest's side of the host interface. No function crosses the boundary between host and guest: answers arrive through `step`,
// and calls are written into the outbox that it returns. Limits are checked here to fail early; the core checks them again.
import { textMaxOf } from '../../protocol.ts';
import type { GuestLogLevel } from '../../protocol.ts';
import { advanceTo } from './clock.ts';
import { errorNameOf } from './error-names.ts';
import {
  clip,
  defineProperty,
  indexOf,
  NativeError,
  NativePromise,
  parse,
  record,
  slice,
  stringify,
} from './harden.ts';
import { forgetEntries, recordEntry } from './recorder.ts';

interface Pending {
  /** True for host calls, which count against `concurrentCalls`; false for timers. */
  counted: boolean;
  /** Error created at the call site, so that the stack of a rejection points there; host calls only. */
  site?: Error;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

interface Queued {
  id: number;
  head: string;
  text: string;
}

/** Output of the guest, in order. */
export interface GuestOutbox {
  /** Comma-separated JSON lists, one per call and log line. */
  heads: string;
  /** Concatenated arguments and log lines; each head holds the length of its text. */
  texts: string;
  /** End of the run as JSON; empty while the run continues. */
  end: string;
  /** End of the run as JSON if the handler has ended and no open call is refused; empty otherwise. */
  after: string;
}

export interface GuestLimits {
  calls: number;
  concurrentCalls: number;
  logBytes: number;
  logLines: number;
}

const outboxUnitsMax = 6_000_000;
const timersMax = 64;

/**
 * An entry returns this object at once and fills it until the last promise has settled; isolated-vm copies it after that. The plugin
 * cannot reach it, and writing to an own property does not consult the prototype.
 */
const outbox: GuestOutbox = { heads: '', texts: '', end: '', after: '' };
let pending = record<Pending>();
let nextId = 1;
let run = 0;
let limits: GuestLimits = { calls: 0, concurrentCalls: 0, logBytes: 0, logLines: 0 };
let callCount = 0;
let callsOpen = 0;
let timersOpen = 0;
let logBytes = 0;
let logLines = 0;
let waiting: Queued[] = [];
let waitingHead = 0;
/** End of the run once no call is open; empty while the handler runs. */
let endWhenIdle = '';

/** Resets the counters for a new run. Leftover callbacks of the previous run can no longer reach the host. */
export function openRun(runLimits: GuestLimits): number {
  pending = record<Pending>();
  limits = runLimits;
  callCount = callsOpen = timersOpen = logBytes = logLines = waitingHead = 0;
  waiting = [];
  endWhenIdle = '';
  return ++run;
}

export function currentRun(): number {
  return run;
}

/** @param site error whose stack frames replace those of the returned error */
export function hostError(code: string, message: string, site?: Error): Error {
  const error = new NativeError(message);
  defineProperty(error, 'code', { value: code, enumerable: true });
  const name = errorNameOf(code);
  defineProperty(error, 'name', { value: name });
  // A getter, because formatting the stack may run code of the plugin.
  if (site) defineProperty(error, 'stack', { get: () => `${name}: ${message}${framesOf(site)}` });
  return error;
}

function framesOf({ stack }: Error): string {
  const at = typeof stack === 'string' ? indexOf(stack, '\n') : -1;
  return at < 0 ? '' : slice(stack as string, at);
}

/** Appends to the outbox; output after the end is dropped. */
function emit(head: string, text: string): void {
  if (outbox.end !== '') return;
  outbox.heads += outbox.heads === '' ? head : ',' + head;
  outbox.texts += text;
}

/** Makes a host call. Serializes the arguments at once, so that later changes to them have no effect. `op` needs no escapes. */
export function callHost(ofRun: number, op: string, args: ArrayLike<unknown>): Promise<unknown> {
  const site = new NativeError();
  return new NativePromise((resolve, reject) => {
    if (ofRun !== run)
      throw hostError(
        'run_ended',
        'The run of this ctx has ended. Await all calls before the handler returns.',
      );
    if (++callCount > limits.calls) {
      // The run ends here. The promise never settles, which ends the entry; a rejection could be caught in a loop.
      const message = `The run made more than ${limits.calls} host calls. Split the work into several runs.`;
      if (callCount === limits.calls + 1) end('["call_budget",' + stringify(message) + ']');
      return;
    }
    const text = argumentText(args);
    if (text.length > textMaxOf(op))
      throw hostError(
        'validation_failed',
        `The arguments of ${op} are longer than ${textMaxOf(op)} characters. Send less data per call.`,
      );
    if (outbox.texts.length + text.length > outboxUnitsMax)
      throw hostError('quota_exceeded', 'Too much data in flight. Await earlier calls first.');
    const id = nextId++;
    pending[id] = { counted: true, site, resolve, reject };
    const head = '["c",' + id + ',"' + op + '",' + text.length + ']';
    if (callsOpen < limits.concurrentCalls) {
      callsOpen++;
      emit(head, text);
    } else {
      outbox.after = '';
      defineProperty(waiting, waiting.length, {
        value: { id, head, text },
        writable: true,
        configurable: true,
        enumerable: true,
      });
    }
  });
}

/** Serializes element by element, so that a plugin's `Array.prototype.toJSON` does not get the list. */
function argumentText(args: ArrayLike<unknown>): string {
  let count = args.length;
  while (count > 0 && args[count - 1] === undefined) count--;
  let text = '[';
  for (let i = 0; i < count; i++) {
    const one: unknown = stringify(args[i]);
    text += (i === 0 ? '' : ',') + (typeof one === 'string' ? one : 'null');
  }
  return text + ']';
}

/** Resolves after `ms` milliseconds. Also lets a long computation continue in a new entry. */
export function sleep(ofRun: number, ms: number): Promise<unknown> {
  return new NativePromise((resolve, reject) => {
    if (ofRun !== run)
      throw hostError(
        'run_ended',
        'The run of this ctx has ended. Await all calls before the handler returns.',
      );
    if (timersOpen >= timersMax)
      throw hostError(
        'quota_exceeded',
        `A run may have ${timersMax} timers at once. Await or clear earlier timers first.`,
      );
    timersOpen++;
    const id = nextId++;
    const done = (): void => {
      timersOpen--;
      resolve(undefined);
    };
    pending[id] = { counted: false, resolve: done, reject };
    const text = '[' + (ms > 0 ? ms : 0) + ']';
    emit('["c",' + id + ',"sleep",' + text.length + ']', text);
  });
}

export function writeLog(level: GuestLogLevel, message: string): void {
  if (logLines >= limits.logLines || logBytes >= limits.logBytes) return;
  logLines++;
  const text = clip(message, limits.logBytes - logBytes);
  logBytes += text.length;
  emit('["l","' + level + '",' + text.length + ']', text);
  recordEntry('["' + level + '",' + stringify(text) + ']');
}

/**
 * Ends the run once no host call is open, because a call that was not awaited still belongs to its run.
 * @param progress JSON text of a schedule's progress, or empty
 * @param result JSON text of the result of an action or a route, or empty
 */
export function endWell(progress: string, result: string): void {
  let head = progress === '' ? '["done"]' : '["done",' + progress + ']';
  if (result !== '') head = '["done",null,' + stringify(result) + ']';
  if (callsOpen === 0) return end(head);
  endWhenIdle = head;
  if (waitingHead === waiting.length) outbox.after = head;
}

/** Sets the end of the run; later ends are ignored. */
function end(head: string): void {
  if (outbox.end === '') outbox.end = head;
}

export function endRun(
  reason: 'error' | 'retry_later' | 'drop' | 'invalid_result',
  message: string,
  { retryAfterMs = 0, stack = '' }: { retryAfterMs?: number; stack?: string } = {},
): void {
  end('["' + reason + '",' + stringify(message) + ',' + retryAfterMs + ',' + stringify(stack) + ']');
}

export function settle(id: string, ok: boolean, text: string, elapsedMs: number): void {
  advanceTo(elapsedMs);
  const entry = pending[id];
  if (entry === undefined) return;
  delete pending[id];
  if (entry.counted) releaseCall();
  if (ok) entry.resolve(text === '' ? undefined : parse(text));
  else {
    const [code, message] = parse(text) as [string, string];
    entry.reject(hostError(code, message, entry.site));
  }
}

function releaseCall(): void {
  callsOpen--;
  if (waitingHead < waiting.length) {
    const next = waiting[waitingHead] as Queued;
    waitingHead++;
    callsOpen++;
    emit(next.head, next.text);
  } else if (callsOpen === 0 && endWhenIdle !== '') {
    end(endWhenIdle);
  }
}

/** Returns the emptied outbox for a new entry. */
export function openOutbox(): GuestOutbox {
  outbox.heads = '';
  outbox.texts = '';
  outbox.end = '';
  outbox.after = '';
  forgetEntries();
  return outbox;
}
