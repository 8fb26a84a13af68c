/** Maximum number of characters of a message or stack that a guest threw. */
const textMax = 2000;

/** Thrown for everything that ends a guest; `reason` decides whether the plugin is at fault. */
export class GuestFault extends Error {
  /** Content of the guest's recorder: the log lines of the entry. */
  lastWords = '';
  readonly reason: 'cpu' | 'memory' | 'startup' | 'rejection' | 'protocol' | 'disposed';
  /** Stack of the error that the guest threw. */
  readonly thrownStack: string | undefined;
  constructor(reason: GuestFault['reason'], message: string, thrownStack?: string) {
    super(message);
    this.reason = reason;
    this.thrownStack = thrownStack;
  }
}

export function cpuFault(limitMs: number): GuestFault {
  return new GuestFault(
    'cpu',
    `One stretch of code used more than ${Math.round(limitMs)} ms of CPU time. Split it with setTimeout.`,
  );
}

export function loadingFault(limitMs: number): GuestFault {
  return new GuestFault(
    'cpu',
    `Loading the module used more than ${Math.round(limitMs)} ms of CPU time. Move work into handlers.`,
  );
}

/** Converts an error during loading: errors of the module become startup faults, exceeded limits keep their reason. */
export function startupFault(error: unknown): GuestFault {
  if (error instanceof GuestFault && error.reason !== 'rejection') return error;
  if (!(error instanceof Error))
    return new GuestFault(
      'startup',
      'The module threw a value that is not an `Error` while loading. Throw an `Error`, so that its message is reported.',
    );
  return new GuestFault('startup', messageOf(error), stackOf(error));
}

/** Classifies an error of an isolate by the message of isolated-vm. */
export function faultOf(error: unknown, memoryMb: number): GuestFault {
  const message = error instanceof Error ? messageOf(error) : 'unknown';
  if (/memory limit|out of memory|catastrophic/i.test(message))
    return new GuestFault(
      'memory',
      `The plugin used more than ${memoryMb} MB of memory. Load less data at once.`,
    );
  if (/disposed/.test(message)) return new GuestFault('disposed', message);
  return new GuestFault('rejection', message, error instanceof Error ? stackOf(error) : undefined);
}

function messageOf({ message }: Error): string {
  return String(message).slice(0, textMax);
}

function stackOf(error: Error): string | undefined {
  if (error instanceof GuestFault) return error.thrownStack;
  return typeof error.stack === 'string' ? error.stack.slice(0, textMax) : undefined;
}
