// Answers the host calls of a run: own calls directly, all others through an API request made as the plugin,
// authorized and validated like that of any client. Calls count against the limits of the plugin, not
// against the rate limits of clients.
import type { HandlerKind } from '../../../../sdk/plugin/handlers.ts';
import type { Staging } from '../../../kernel/changes/staging.ts';
import type { Ledger } from '../../../kernel/ledger/ledger.ts';
import { FairQueue } from '../../../platform/lib/fairness/fair-queue.ts';
import type { CallAnswer } from '../../../platform/sandbox/supervisor.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { ValueError } from '../kv/own.ts';
import { actionCall } from '../schedules/one-time-jobs.ts';
import { traitsOf, effectsMax } from '../planning/limits.ts';
import {
  CallError,
  callGateway,
  queryOf,
  type BridgeCall,
  type GuestCall,
  type OwnState,
} from './gateway.ts';

/** Longest answer that is sent to the guest, in characters; an own call can set another limit. */
const answerMax = 256 * 1024;

/** Answers one host call. Errors that the plugin caused are answers; only internal errors reject. */
export async function callHost(call: BridgeCall, op: string, args: string): Promise<CallAnswer> {
  try {
    call.meter.takeCall();
    const parsed: unknown = JSON.parse(args);
    if (!Array.isArray(parsed))
      throw new CallError('validation_failed', 'The arguments of a host call must be a JSON array.');
    return { ok: true, value: await answerOf(call, op, parsed) };
  } catch (error) {
    if (error instanceof CallError || error instanceof ValueError)
      return { ok: false, error: { code: error.code, message: error.message } };
    if (error instanceof SyntaxError)
      return {
        ok: false,
        error: { code: 'validation_failed', message: 'The arguments of a host call must be JSON.' },
      };
    throw error;
  }
}

/** Answers the call and records its reads for conflict detection. */
async function answerOf(call: BridgeCall, op: string, args: readonly unknown[]): Promise<string> {
  const { staged } = call;
  const { reads, effects } = staged;
  if (reads) await reads.begin();
  try {
    const guestCall = ownCalls.get(op) ?? call.gateway.hostCalls.get(op);
    if (!guestCall)
      throw new CallError('validation_failed', `The host call ${op} does not exist. Use the calls of ctx.`);
    if (!guestCall.isRead) requireWriteCapacity(staged);
    const value = await guestCall.answer(call, args);
    requireShort(value, guestCall.answerMax ?? answerMax);
    return value;
  } finally {
    // A write without an effect still reveals the current state to the run, so it counts as a read.
    if (reads && staged.effects === effects) reads.use();
  }
}

function requireShort({ length }: string, most: number): void {
  if (length > most)
    throw new CallError(
      'quota_exceeded',
      `The answer is longer than ${most} characters. Request fewer fields or set a smaller limit.`,
    );
}

function requireWriteCapacity({ effects, fullness }: Staging): void {
  if (effects >= effectsMax)
    throw new CallError(
      'quota_exceeded',
      `A run can make at most ${effectsMax} writes. Split the work into several runs.`,
    );
  if (fullness !== null) throw new CallError('quota_exceeded', fullness);
}

/** A write that only stages changes, so it can be repeated without the run that made it. */
interface OwnWrite extends GuestCall {
  readonly isRead: false;
  answer(call: OwnState, args: readonly unknown[]): Promise<string>;
}

/** Limit of characters that covers the largest stored value (2 MiB) with its JSON overhead. */
const valueMax = 2_200_000;

const reads: Readonly<Record<string, GuestCall>> = {
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
  [actionCall]: {
    isRead: false,
    async answer({ oneTimeJobs }, [plugin, action, body]) {
      await oneTimeJobs.callAction(plugin, action, body);
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
export const ownCalls: ReadonlyMap<string, GuestCall> = new Map<string, GuestCall>([
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

/** Calls with shorter arguments are too cheap to queue. */
const longCharsMin = 64 * 1024;
/** Longest pause after a call, in milliseconds. A call that took longer spent part of its time waiting. */
const restMsMax = 50;

/**
 * Limits the size of the host calls of a run and queues the long ones. Long calls block the event loop
 * for milliseconds, so they run one at a time, fairly among workspaces and installs, with a pause of
 * the same length after each.
 */
export interface CallQueue {
  /** Returns the function that performs the calls of one run. */
  ofRun(
    scope: Scope,
    installId: string,
    kind: HandlerKind,
  ): (op: string, args: string, perform: () => Promise<CallAnswer>) => Promise<CallAnswer>;
}

export function createCallQueue(options: { ledger: Ledger }): CallQueue {
  const { ledger } = options;
  /** Bounded by the open calls of all runs in the sandbox: at most `concurrentCalls` (limits.ts) for each run. */
  const waiting = new FairQueue<() => void>();
  let busy = false;

  /**
   * Passes the slot to the next call. `busy` stays true meanwhile, so that a new call cannot take the slot.
   */
  const next = (): void => {
    const go = waiting.take(() => true);
    if (go) go();
    else busy = false;
  };
  const waitForSlot = async (scope: Scope, installId: string): Promise<void> => {
    if (busy) return new Promise<void>((go) => waiting.push(scope.workspaceId, installId, go));
    busy = true;
  };

  return {
    ofRun(scope, installId, kind) {
      const { callCharsMax } = traitsOf[kind];
      let chars = 0;
      return async (op, args, perform) => {
        chars += args.length;
        if (chars > callCharsMax) return overBudget(callCharsMax);
        // A request to another server spends its time waiting, so it does not take a slot.
        const isLong = args.length >= longCharsMin && op !== 'net.fetch';
        if (isLong) await waitForSlot(scope, installId);
        const startedMs = performance.now();
        try {
          const answer = await perform();
          if (answer.ok) chars += answer.value.length;
          return answer;
        } finally {
          const tookMs = performance.now() - startedMs;
          // API requests charge the ledger themselves.
          if (isOwnValue(op)) ledger.charge(scope, 'cpuMs', tookMs);
          if (isLong) setTimeout(next, Math.min(tookMs, restMsMax));
        }
      };
    },
  };
}

/** True for calls that are answered without an API request. */
function isOwnValue(op: string): boolean {
  return ownCalls.has(op) && op !== 'kv.list';
}

function overBudget(chars: number): CallAnswer {
  return {
    ok: false,
    error: {
      code: 'quota_exceeded',
      message: `The arguments and answers of a run's host calls can have at most ${chars} characters in total. Transfer less, or split the work into several runs.`,
    },
  };
}
