// The host calls that are no operation of the API: what a plugin has for itself. Each is answered here, past the door, and needs no
// grant.
import { CallError, queryOf } from './door-call.ts';
import { askDoor, type BridgeCall } from './host-door.ts';

export interface OwnCall {
  readonly isRead: boolean;
  /** Characters of its answer, where they are not those of all calls. */
  readonly answerMax?: number;
  /** Answers with JSON. @throws CallError, ValueError */
  answer(call: BridgeCall, args: readonly unknown[]): Promise<string>;
}

/** What it writes is staged, so it can be asked again without the run that asked first. */
interface OwnWrite extends OwnCall {
  readonly isRead: false;
  answer(call: Pick<BridgeCall, 'values' | 'oneOffs'>, args: readonly unknown[]): Promise<string>;
}

/** A value is up to 2 MiB. */
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
      return askDoor(call, call.door.listKeys, { params: { id: call.installId }, query: queryOf(query) });
    },
  },
  // It stages nothing, so it counts as no write.
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
    async answer({ oneOffs }, [name, at, data]) {
      await oneOffs.once(name, at, data);
      return 'null';
    },
  },
  'schedule.cancel': {
    isRead: false,
    answer: async ({ oneOffs }, [name]) => JSON.stringify(await oneOffs.cancel(name)),
  },
};

/** By name: `kv.set`. */
export const ownWrites: ReadonlyMap<string, OwnWrite> = new Map(Object.entries(writes));
export const ownCalls: ReadonlyMap<string, OwnCall> = new Map<string, OwnCall>([
  ...Object.entries(reads),
  ...ownWrites,
]);

function keyOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,199}$/.test(value))
    throw new CallError('validation_failed', 'A key has up to 200 letters, digits and _ - . :');
  return value;
}
