// Errors between a plugin and its host. A handler throws `RetryLater` and `Drop` to control its run; the
// others come from host calls. Errors are distinguished by `code`, so `instanceof` also holds for errors
// created by the host.

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

/** Ends this attempt and requests another one, not before `afterMs`. */
export class RetryLater extends PluginError {
  static override readonly code = 'retry_later';
  readonly afterMs: number;

  constructor(afterMs: number, reason = 'The handler requested another attempt.') {
    super(reason);
    this.afterMs = afterMs;
  }
}

/** Ends the run without effects and without another attempt. */
export class Drop extends PluginError {
  static override readonly code = 'drop';

  constructor(reason: string) {
    super(reason);
  }
}

/** The object changed since it was read, or `ifVersion` does not match. */
export class Conflict extends PluginError {
  static override readonly code = 'conflict';
}

/** The install lacks a grant that this call needs. */
export class ScopeDenied extends PluginError {
  static override readonly code = 'insufficient_scope';
}

/** A limit of the run or the install is exhausted. */
export class QuotaExceeded extends PluginError {
  static override readonly code = 'quota_exceeded';
}

/** The arguments of a call are invalid; the message names them. */
export class InvalidInput extends PluginError {
  static override readonly code = 'validation_failed';
}

export class NotFound extends PluginError {
  static override readonly code = 'not_found';
}

/** The plugin may not send this request: the manifest does not allow it, or the host rejects it. */
export class EgressDenied extends PluginError {
  static override readonly code = 'egress_denied';
}

/** The destination did not answer in time. */
export class DeadlineExceeded extends PluginError {
  static override readonly code = 'deadline_exceeded';
}

/** The destination could not be connected to, or its response is not HTTP. */
export class Unreachable extends PluginError {
  static override readonly code = 'unreachable';
}
