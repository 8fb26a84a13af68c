// Limits the size of the host calls of a run and queues the long ones. Long calls block the event loop for
// milliseconds, so they run one at a time, fairly among workspaces and installs, with a pause of the same
// length after each.
import { FairQueue } from '../../../platform/lib/fairness/fair-queue.ts';
import type { Ledger } from '../../../kernel/ledger/ledger.ts';
import type { CallAnswer } from '../../../platform/sandbox/supervisor.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { traitsOf, type HandlerKind } from '../planning/handler-kinds.ts';
import { ownCalls } from './own-calls.ts';

/** Calls with shorter arguments are too cheap to queue. */
const longCharsMin = 64 * 1024;
/** Longest pause after a call, in milliseconds. A call that took longer spent part of its time waiting. */
const restMsMax = 50;

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
