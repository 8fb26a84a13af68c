// A consumer turns the event log into work. It reads from its position, plans the work of each event and
// offers it to its work queue, which starts it immediately and does not store work that ends soon. A
// subscriber (a plugin install or a webhook endpoint) whose queue is full lags behind; its work is planned
// from the log once there is capacity, so it does not block other subscribers. See docs/decisions/0020.
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { systemStatement } from '../../../platform/store/statement.ts';
import { type Scope, scopeOf } from '../../../platform/store/store.ts';
import { lastSequence } from '../log/log.ts';
import { createStep, type LogReadingOptions, lookMs, type Step } from '../reading.ts';
import type { Unit } from '../work/queue.ts';
import type { Positions } from './positions.ts';
import {
  type ConsumerPosition,
  type ConsumerPositions,
  createConsumerPositions,
  createProgress,
  type Progress,
} from './consumer-positions.ts';

export const allWorkspaces = systemStatement<{ workspace_id: string }>(
  'consumers.workspaces',
  'at startup every workspace may have events that its consumers have not read',
  'SELECT workspace_id FROM workspaces',
);

export interface Consumer {
  /**
   * Starts reading in every workspace. Call once, when the queue may work; until then events stay in the log.
   */
  start(): Promise<void>;
  /** Resolves once the work of all events committed so far has started. */
  settled(): Promise<void>;
  /** Stores the planned work of a workspace, or of one subscriber, so that it can be listed. */
  storeWork(scope: Scope, subject?: string): Promise<void>;
  /** Returns how far the consumer is behind the log. */
  progress(): Progress;
  /** Stops reading. */
  stop(): Promise<void>;
}

export interface ConsumerOptions<U extends Unit> extends LogReadingOptions<U> {
  readonly name: string;
  readonly log: Log;
  readonly positions: Positions;
}

/**
 * Delay before a mark is stored without another batch. After a crash, events after the stored mark are planned again, and
 * work that has ended is recognized by its rows.
 */
const markMs = 10_000;

interface Marks {
  /** Schedules the storing of the mark of a workspace. Call when its work is done or waits. */
  lookLater(workspaceId: string): void;
  stop(): void;
}

/** @param wake makes the consumer continue in a workspace */
function createMarks(
  { clock, positions: stored }: Pick<ConsumerOptions<Unit>, 'clock' | 'positions'>,
  positions: ConsumerPositions,
  wake: (workspaceId: string) => void,
): Marks {
  /** By workspace; only workspaces with lagging subscribers have a timer. */
  const timers = new Map<string, () => void>();
  let stopped = false;

  const lookLater = (workspaceId: string): void => {
    const position = positions.known(workspaceId);
    if (stopped || !position) return;
    if (hasNews(position)) stored.storeAfter(markMs, workspaceId);
    if (position.lagging.size === 0 || timers.has(workspaceId)) return;
    const look = (): void => {
      timers.delete(workspaceId);
      wake(workspaceId);
      lookLater(workspaceId);
    };
    timers.set(workspaceId, clock.after(lookMs, look));
  };

  return {
    lookLater,
    stop() {
      stopped = true;
      for (const cancel of timers.values()) cancel();
    },
  };
}

const hasNews = ({ workedThrough, lowWater, stored }: ConsumerPosition): boolean =>
  workedThrough > stored && lowWater > stored;

export function createConsumer<U extends Unit>(options: ConsumerOptions<U>): Consumer {
  const { store, clock, name, queue } = options;
  const positions = createConsumerPositions(store, name, options.positions);
  const marks = createMarks(options, positions, (workspaceId) => loops.wake(workspaceId));
  const isStopped = (): boolean => loops.isStopped();
  const step = createStep({
    ...options,
    positions,
    isStopped,
    onSettled: marks.lookLater,
    storeMarks: options.positions.store,
  });
  const loops = createLoops({ ...options, step, onRest: marks.lookLater });

  options.fresh.onAdded((workspaceId) => {
    if (queue.mayWork()) loops.wake(workspaceId);
  });
  queue.onCapacity((scope) => {
    const { workspaceId, billingAccount: subject } = scope;
    const lag = subject === null ? undefined : positions.known(workspaceId)?.lagging.get(subject);
    if (!lag || subject === null) return;
    lag.movedMs = clock.monotonicMs();
    if (queue.hasCapacity(scope, subject)) loops.wake(workspaceId);
  });

  return {
    progress: createProgress({ ...options, positions }),
    async start() {
      for (const row of await store.readSystem(allWorkspaces)) loops.wake(row.workspace_id);
    },
    async settled() {
      const lags = (): boolean => [...positions.all()].some((id) => positions.known(id)?.lagging.size);
      do await loops.rest();
      while (!isStopped() && lags() && (await loops.nextRest()));
    },
    async storeWork(scope, subject) {
      if (!queue.mayWork()) return;
      const end = await lastSequence(store, scope);
      await positions.using(scope, async (position) => {
        for (;;) {
          const lags = [...position.lagging].filter(([one]) => (subject ?? one) === one);
          for (const [, lag] of lags) lag.isLookedAt = true;
          if (isStopped() || (lags.length === 0 && position.at >= end)) return;
          loops.wake(scope.workspaceId);
          await loops.nextStep();
          // Work that the store refuses cannot be listed.
          if (position.hasFailed) return;
        }
      });
      await queue.storeActive(scope, (unit) => (subject ?? unit.subject) === unit.subject);
    },
    async stop() {
      marks.stop();
      await loops.stop();
    },
  };
}

interface LoopsOptions {
  /** Name of the consumer. */
  readonly name: string;
  readonly log: Log;
  readonly step: Step;
  /** Called when a workspace has no more work for now. */
  onRest?(workspaceId: string): void;
}

interface Loops {
  /** Signals that a workspace may have work. */
  wake(workspaceId: string): void;
  isStopped(): boolean;
  /** Resolves once nothing is running. */
  rest(): Promise<void>;
  /**
   * `nextStep` resolves after the next step in any workspace, successful or not; `nextRest` when a workspace
   * next becomes idle.
   */
  nextStep(): Promise<true>;
  nextRest(): Promise<true>;
  stop(): Promise<void>;
}

/** Runs the steps of a consumer, sequentially within each workspace, until no work is left. */
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
        else onRest?.(workspaceId);
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
