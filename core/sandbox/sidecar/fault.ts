// What ends a guest: whose fault it was, and in which words.

/** Of what a guest threw, in characters. */
const textMax = 2000;

/** Thrown for everything that ends a guest; `reason` says whose fault it was. */
export class GuestFault extends Error {
  /** The log lines of the entry, as the guest's recorder holds them. */
  lastWords = '';
  readonly reason: 'cpu' | 'memory' | 'startup' | 'rejection' | 'protocol' | 'disposed';
  /** Of what the guest threw. */
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
    `One stretch of code used more than ${Math.round(limitMs)} ms of processor time.`,
  );
}

export function loadingFault(limitMs: number): GuestFault {
  return new GuestFault(
    'cpu',
    `Loading the module used more than ${Math.round(limitMs)} ms of processor time.`,
  );
}

/** While loading, the module's own errors are startup errors; limits keep their names. */
export function startupFault(error: unknown): GuestFault {
  if (error instanceof GuestFault && error.reason !== 'rejection') return error;
  if (!(error instanceof Error)) return new GuestFault('startup', 'The module failed to load.');
  return new GuestFault('startup', messageOf(error), stackOf(error));
}

/** What went wrong in an isolate, by what isolated-vm says of it. */
export function faultOf(error: unknown, memoryMb: number): GuestFault {
  const message = error instanceof Error ? messageOf(error) : 'unknown';
  if (/memory limit|out of memory|catastrophic/i.test(message))
    return new GuestFault('memory', `The plugin needed more than ${memoryMb} MB.`);
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
