/** What can be said of one call, whatever it asks for. */

/** An `AbortSignal`, described so that no library has to know of it. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export interface CallOptions {
  /** Ends the call: it throws the signal's reason. */
  readonly signal?: Signal | undefined;
}

export interface WriteOptions extends CallOptions {
  /** Names the write, so that it takes effect once however often it is sent. By default each call has one of its own. */
  readonly idempotencyKey?: string | undefined;
  /** `simulate` answers what would be written, and writes nothing; by default `commit`. */
  readonly mode?: 'commit' | 'simulate' | undefined;
}

export interface ChangeOptions extends WriteOptions {
  /** Refuses the write as `precondition_failed` when the object has another version by now. */
  readonly ifVersion?: number | undefined;
}
