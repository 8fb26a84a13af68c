// Errors between a plugin and its host. A handler throws the first two to steer its run; the others arrive from host
// calls. They are told apart by `code`, so `instanceof` also holds for errors that the host made.

export class PluginError extends Error {
  static readonly code: string = 'error';
  readonly code: string;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code ?? (new.target as typeof PluginError).code;
    this.name = new.target.name;
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== 'object' || value === null || !('code' in value)) return false;
    return this === PluginError ? typeof value.code === 'string' : value.code === this.code;
  }
}

/** Ends this attempt and asks for another one, not before `afterMs`. */
export class RetryLater extends PluginError {
  static override readonly code = 'retry_later';
  readonly afterMs: number;

  constructor(afterMs: number, reason = 'The handler asks to be run again later.') {
    super(reason);
    this.afterMs = afterMs;
  }
}

/** Ends the run without effects and without another attempt: this event is of no use. */
export class Drop extends PluginError {
  static override readonly code = 'drop';

  constructor(reason: string) {
    super(reason);
  }
}

/** The object changed since it was read, or `ifVersion` no longer holds. */
export class Conflict extends PluginError {
  static override readonly code = 'conflict';
}

/** The install was not granted what this call needs. */
export class ScopeDenied extends PluginError {
  static override readonly code = 'insufficient_scope';
}

/** One of the limits of the run or the install is used up. */
export class QuotaExceeded extends PluginError {
  static override readonly code = 'quota_exceeded';
}

/** The arguments of a call are wrong; the message says which. */
export class InvalidInput extends PluginError {
  static override readonly code = 'validation_failed';
}

export class NotFound extends PluginError {
  static override readonly code = 'not_found';
}

/** The plugin may not send this request: its manifest does not name it, or the host refuses it. */
export class EgressDenied extends PluginError {
  static override readonly code = 'egress_denied';
}

/** What was asked did not answer in time. */
export class DeadlineExceeded extends PluginError {
  static override readonly code = 'deadline_exceeded';
}

/** There is no connection to what was asked, or its answer is no HTTP. */
export class Unreachable extends PluginError {
  static override readonly code = 'unreachable';
}
