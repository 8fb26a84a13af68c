// `AbortController` and `AbortSignal` (WHATWG DOM § 3), with `abort` as the only event.
import { currentRun, sleep } from '../bridge.ts';
import { defineProperty, NativeError, NativeTypeError, numberOf } from '../harden.ts';

type Listener = ((event: object) => void) | { handleEvent(event: object): void };

/** Returns an error with the name of a `DOMException`. */
export function errorWithName(name: string, message: string): Error {
  const error = new NativeError(message);
  defineProperty(error, 'name', { value: name, configurable: true });
  return error;
}

/** Key that allows only this module to construct signals. */
const ours = {};
const fire = Symbol('fire');

export class GuestAbortSignal {
  #aborted = false;
  #reason: unknown;
  #listeners: Listener[] = [];
  onabort: ((event: object) => void) | null = null;

  constructor(key?: unknown) {
    if (key !== ours)
      throw new NativeTypeError('AbortSignal has no public constructor. Use AbortController.');
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(type: string, listener: Listener | null): void {
    if (type !== 'abort' || !listener || this.#aborted || this.#listeners.includes(listener)) return;
    this.#listeners.push(listener);
  }

  removeEventListener(type: string, listener: Listener | null): void {
    if (type === 'abort') this.#listeners = this.#listeners.filter((one) => one !== listener);
  }

  [fire](reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason === undefined ? errorWithName('AbortError', 'The operation was aborted.') : reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    const event = { type: 'abort', target: this };
    if (typeof this.onabort === 'function') this.onabort(event);
    for (const listener of listeners) {
      if (typeof listener === 'function') listener(event);
      else listener.handleEvent(event);
    }
  }

  static abort(reason?: unknown): GuestAbortSignal {
    const signal = new GuestAbortSignal(ours);
    signal[fire](reason);
    return signal;
  }

  static timeout(ms: unknown): GuestAbortSignal {
    const signal = new GuestAbortSignal(ours);
    const late = (): void => signal[fire](errorWithName('TimeoutError', 'The operation timed out.'));
    void sleep(currentRun(), numberOf(ms) || 0).then(late);
    return signal;
  }

  static any(signals: Iterable<GuestAbortSignal>): GuestAbortSignal {
    const any = new GuestAbortSignal(ours);
    for (const signal of signals) {
      if (signal.aborted) any[fire](signal.reason);
      else signal.addEventListener('abort', () => any[fire](signal.reason));
    }
    return any;
  }
}

export class GuestAbortController {
  readonly #signal = new GuestAbortSignal(ours);

  get signal(): GuestAbortSignal {
    return this.#signal;
  }

  abort(reason?: unknown): void {
    this.#signal[fire](reason);
  }
}
