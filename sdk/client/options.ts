/** An `AbortSignal`, described structurally so that no library types are needed. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export interface CallOptions {
  /** Aborts the call, which throws the reason of the signal. */
  readonly signal?: Signal | undefined;
}

export interface WriteOptions extends CallOptions {
  /**
   * Identifies the write, so that it takes effect once even if it is sent several times. By default each call
   * has a new key.
   */
  readonly idempotencyKey?: string | undefined;
  /** `simulate` returns the result of the write without writing; default `commit`. */
  readonly mode?: 'commit' | 'simulate' | undefined;
}

export interface ChangeOptions extends WriteOptions {
  /** Rejects the write with `precondition_failed` if the object has another version. */
  readonly ifVersion?: number | undefined;
}
