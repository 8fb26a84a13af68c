// Implements the host calls for stored values, one-time jobs and requests to other servers, which are not API
// operations and need no grant.
import { CallError, queryOf } from './gateway-call.ts';
import { callGateway, type BridgeCall, type OwnState } from './host-gateway.ts';

export interface OwnCall {
  readonly isRead: boolean;
  /** Longest answer in characters, if it differs from the default. */
  readonly answerMax?: number;
  /** Returns JSON. @throws CallError, ValueError */
  answer(call: BridgeCall, args: readonly unknown[]): Promise<string>;
}

/** A write that only stages changes, so it can be repeated without the run that made it. */
interface OwnWrite extends OwnCall {
  readonly isRead: false;
  answer(call: OwnState, args: readonly unknown[]): Promise<string>;
}

/** Limit of characters that covers the largest stored value (2 MiB) with its JSON overhead. */
const valueMax = 2_200_000;

const reads: Readonly<Record<string, OwnCall>> = {
  'kv.get': {
    isRead: true,
    answerMax: valueMax,
    answer: async ({ values }, [key]) => (await values.get(keyOf(key))) ?? 'null',
  },
  'kv.list': {
    isRead: true,
    answerMax: valueMax,
    async answer(call, [query]) {
      await call.values.noteList();
      return callGateway(call, call.gateway.listKeys, {
        params: { id: call.installId },
        query: queryOf(query),
      });
    },
  },
  // This call stages nothing, so it does not count as a write.
  'net.fetch': {
    isRead: true,
    answerMax: valueMax,
    answer: ({ outside }, [request]) => outside.ask(request),
  },
};

const writes: Readonly<Record<string, OwnWrite>> = {
  'kv.set': {
    isRead: false,
    async answer({ values }, [key, value]) {
      await values.set(keyOf(key), value);
      return 'null';
    },
  },
  'kv.delete': {
    isRead: false,
    async answer({ values }, [key]) {
      await values.delete(keyOf(key));
      return 'null';
    },
  },
  'kv.increment': {
    isRead: false,
    answer: async ({ values }, [key, by]) => JSON.stringify(await values.increment(keyOf(key), by ?? 1)),
  },
  'kv.compareAndSet': {
    isRead: false,
    answer: async ({ values }, [key, expected, next]) =>
      JSON.stringify(await values.compareAndSet(keyOf(key), expected, next)),
  },
  'schedule.once': {
    isRead: false,
    async answer({ oneTimeJobs }, [name, at, data]) {
      await oneTimeJobs.schedule(name, at, data);
      return 'null';
    },
  },
  'schedule.cancel': {
    isRead: false,
    answer: async ({ oneTimeJobs }, [name]) => JSON.stringify(await oneTimeJobs.cancel(name)),
  },
};

/** Keyed by call name, such as `kv.set`. */
export const ownWrites: ReadonlyMap<string, OwnWrite> = new Map(Object.entries(writes));
export const ownCalls: ReadonlyMap<string, OwnCall> = new Map<string, OwnCall>([
  ...Object.entries(reads),
  ...ownWrites,
]);

function keyOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,199}$/.test(value))
    throw new CallError(
      'validation_failed',
      'A key must be 1 to 200 letters, digits or the characters _ - . : and must start with a letter, digit, _ or -.',
    );
  return value;
}
