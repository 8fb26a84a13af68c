// What ends a guest: whose fault it was, and in which words.

/** Thrown for everything that ends a guest; `reason` says whose fault it was. */
export class GuestFault extends Error {
  /** The log lines of the entry, as the guest's recorder holds them. */
  lastWords = '';
  readonly reason: 'cpu' | 'memory' | 'startup' | 'rejection' | 'protocol' | 'disposed';
  constructor(reason: GuestFault['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export function cpuFault(limitMs: number): GuestFault {
  return new GuestFault(
    'cpu',
    `One stretch of code used more than ${Math.round(limitMs)} ms of processor time.`,
  );
}

/** While loading, the module's own errors are startup errors; limits keep their names. */
export function startupFault(error: unknown): GuestFault {
  if (error instanceof GuestFault && error.reason !== 'rejection') return error;
  return new GuestFault(
    'startup',
    error instanceof Error ? String(error.message).slice(0, 2000) : 'The module failed to load.',
  );
}

/** What went wrong in an isolate, by what isolated-vm says of it. */
export function faultOf(error: unknown, memoryMb: number): GuestFault {
  const message = error instanceof Error ? String(error.message).slice(0, 2000) : 'unknown';
  if (/memory limit|out of memory|catastrophic/i.test(message))
    return new GuestFault('memory', `The plugin needed more than ${memoryMb} MB.`);
  if (/disposed/.test(message)) return new GuestFault('disposed', message);
  return new GuestFault('rejection', message);
}
