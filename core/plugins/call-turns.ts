// What the host calls of a run may carry, and when the long ones have their turn: each holds the core for milliseconds, so
// they go one at a time, workspaces and installs by turns, and after each the core rests as long as the call took.
import { Turns } from '../lib/fairness/turns.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { CallAnswer } from '../sandbox/supervisor.ts';
import type { Scope } from '../store/store.ts';
import { traitsOf, type HandlerKind } from './handler-kinds.ts';
import { ownCalls } from './own-calls.ts';

/** Shorter arguments cost so little that nobody notices. */
const longCharsMin = 64 * 1024;
/** A call that took longer did not use the core all the time. */
const restMsMax = 50;

export interface CallTurns {
  /** The calls of one run. */
  ofRun(
    scope: Scope,
    installId: string,
    kind: HandlerKind,
  ): (op: string, args: string, perform: () => Promise<CallAnswer>) => Promise<CallAnswer>;
}

export function createCallTurns(options: { ledger: Ledger }): CallTurns {
  const { ledger } = options;
  /** At most the calls that the runs of the sandbox may have open, each at most `concurrentCalls` of its limits. */
  const waiting = new Turns<() => void>();
  let busy = false;

  /** The turn passes on while it is still held, so that no newcomer takes it in between. */
  const next = (): void => {
    const go = waiting.take(() => true);
    if (go) go();
    else busy = false;
  };
  const turn = async (scope: Scope, installId: string): Promise<void> => {
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
        // What is asked of other servers waits for them, and holds nobody up meanwhile.
        const isLong = args.length >= longCharsMin && op !== 'net.fetch';
        if (isLong) await turn(scope, installId);
        const startedMs = performance.now();
        try {
          const answer = await perform();
          if (answer.ok) chars += answer.value.length;
          return answer;
        } finally {
          const tookMs = performance.now() - startedMs;
          // The door charges what goes through it.
          if (isOwnValue(op)) ledger.charge(scope, 'cpuMs', tookMs);
          if (isLong) setTimeout(next, Math.min(tookMs, restMsMax));
        }
      };
    },
  };
}

/** Such a call passes by the door. */
function isOwnValue(op: string): boolean {
  return ownCalls.has(op) && op !== 'kv.list';
}

function overBudget(chars: number): CallAnswer {
  return {
    ok: false,
    error: {
      code: 'quota_exceeded',
      message: `The host calls of one run carry at most ${chars} characters, arguments and answers together. Write less, or in several runs.`,
    },
  };
}
