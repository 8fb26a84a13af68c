// Runs the steps of a consumer, sequentially within each workspace, until no work is left.
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { scopeOf } from '../../../platform/store/store.ts';
import type { Step } from '../reading.ts';

interface LoopsOptions {
  /** Name of the consumer. */
  readonly name: string;
  readonly log: Log;
  readonly step: Step;
  /** Called when a workspace has no more work for now. */
  onRest(workspaceId: string): void;
}

export interface Loops {
  /** Signals that a workspace may have work. */
  wake(workspaceId: string): void;
  isStopped(): boolean;
  /** Resolves once nothing is running. */
  rest(): Promise<void>;
  /**
   * `nextStep` resolves after the next step in any workspace, successful or not; `nextRest` when a workspace next
   * becomes idle.
   */
  nextStep(): Promise<true>;
  nextRest(): Promise<true>;
  stop(): Promise<void>;
}

export function createLoops({ name, log, step, onRest }: LoopsOptions): Loops {
  // Both collections contain only workspaces with a running loop.
  const running = new Map<string, Promise<void>>();
  const woken = new Set<string>();
  const steps = createSignal();
  const rests = createSignal();
  let stopped = false;

  const run = async (workspaceId: string): Promise<void> => {
    const scope = scopeOf(workspaceId);
    for (let failures = 0; !stopped;) {
      woken.delete(workspaceId);
      try {
        while (!stopped && (await step(scope))) steps.notify();
        failures = 0;
        if (!woken.has(workspaceId)) return;
      } catch (error) {
        steps.notify();
        if (stopped) return;
        failures++;
        log('error', 'consumer failed', { consumer: name, workspaceId, failures, error: errorForLog(error) });
        await new Promise((resolve) => setTimeout(resolve, Math.min(5_000, 20 * 2 ** failures)));
      }
    }
  };

  const wake = (workspaceId: string): void => {
    if (stopped) return;
    woken.add(workspaceId);
    if (running.has(workspaceId)) return;
    running.set(
      workspaceId,
      run(workspaceId).finally(() => {
        running.delete(workspaceId);
        if (woken.has(workspaceId)) wake(workspaceId);
        else onRest(workspaceId);
        steps.notify();
        rests.notify();
      }),
    );
  };

  const rest = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running.values());
  };
  return {
    wake,
    isStopped: () => stopped,
    rest,
    nextStep: steps.next,
    nextRest: rests.next,
    async stop() {
      stopped = true;
      await rest();
      rests.notify();
    },
  };
}

function createSignal() {
  let waiting: (() => void)[] = [];
  return {
    notify(): void {
      const resolvers = waiting;
      waiting = [];
      for (const resolve of resolvers) resolve();
    },
    next: (): Promise<true> => new Promise((resolve) => waiting.push(() => resolve(true))),
  };
}
