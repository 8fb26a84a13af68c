// A consumer turns the event log into work. It reads on from its place, plans what the events mean, and offers that to its work
// queue, which begins it at once and stores nothing of what is soon done. A subject (an install, an endpoint) that has no room for more
// lags behind, and its work is made from the log when it has room again, so that nobody else waits for it.
// See docs/decisions/0020.
import { errorForLog } from '../lib/failures.ts';
import type { Log } from '../lib/log.ts';
import { systemStatement } from '../store/statement.ts';
import { scopeOf, type Scope } from '../store/store.ts';
import { createPlaces, type Place } from './places.ts';
import { createStep, stuckMs, type ReadingOptions } from './reading.ts';
import type { Unit } from './work.ts';

export type { Plan } from './reading.ts';

/** What ended so shortly before a crash is looked at again after it. */
const markMs = 100;

const allWorkspaces = systemStatement<{ workspace_id: string }>(
  'consumers.workspaces',
  'at start every workspace may have events that its consumers have not seen',
  'SELECT workspace_id FROM workspaces',
);

export interface Consumer {
  /** Reads on in every workspace; to be called once at start. */
  start(): Promise<void>;
  /** Resolves once the work of all events committed so far is under way. */
  settled(): Promise<void>;
  /** Has the work stored that a workspace's events made so far, or one subject's, for somebody who wants to see it. */
  storeWork(scope: Scope, subject?: string): Promise<void>;
  /** Reads no further. */
  stop(): Promise<void>;
  /** Stores how far it came. */
  storeMarks(): Promise<void>;
}

export interface ConsumerOptions<U extends Unit> extends ReadingOptions<U> {
  readonly name: string;
  readonly log: Log;
}

export function createConsumer<U extends Unit>(options: ConsumerOptions<U>): Consumer {
  const { store, clock, name, log, queue } = options;
  const places = createPlaces(store, name);
  // All three hold workspaces with something under way.
  const running = new Map<string, Promise<void>>();
  const woken = new Set<string>();
  const timers = new Map<string, () => void>();
  /** Who waits for the end of what is running, and who for the end of a step. */
  const [restWaiters, stepWaiters]: [Waiters, Waiters] = [[], []];
  let stopped = false;
  const isStopped = (): boolean => stopped;
  const step = createStep({ ...options, places, isStopped, onSettled: (id) => lookLater(id) });

  const run = async (workspaceId: string): Promise<void> => {
    const scope = scopeOf(workspaceId);
    for (let failures = 0; !stopped;) {
      woken.delete(workspaceId);
      try {
        while (!stopped && (await step(scope))) told(stepWaiters);
        failures = 0;
        if (!woken.has(workspaceId)) return;
      } catch (error) {
        if (stopped) return;
        failures++;
        told(stepWaiters);
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
        else lookLater(workspaceId);
        told(restWaiters);
        told(stepWaiters);
      }),
    );
  };

  const storeMark = async (workspaceId: string): Promise<void> => {
    try {
      await places.store(scopeOf(workspaceId));
    } catch (error) {
      log('warn', 'a cursor was not stored', { consumer: name, workspaceId, error: errorForLog(error) });
    }
  };

  /** Where something is under way: stores how far it came, and looks after those who do not get on. */
  const lookLater = (workspaceId: string): void => {
    const place = places.known(workspaceId);
    if (stopped || !place || timers.has(workspaceId)) return;
    const lags = place.lagging.size > 0;
    if (!lags && !hasNews(place)) return;
    const look = async (): Promise<void> => {
      timers.delete(workspaceId);
      if (lags) wake(workspaceId);
      await storeMark(workspaceId);
      lookLater(workspaceId);
    };
    timers.set(
      workspaceId,
      clock.after(lags ? stuckMs : markMs, () => void look()),
    );
  };

  options.fresh.onAdded(wake);
  queue.onRoom((scope) => {
    const { workspaceId, payer: subject } = scope;
    const lag = subject === null ? undefined : places.known(workspaceId)?.lagging.get(subject);
    if (!lag || subject === null) return;
    lag.movedMs = clock.monotonicMs();
    if (queue.hasRoom(scope, subject)) wake(workspaceId);
  });

  return {
    async start() {
      for (const row of await store.readSystem(allWorkspaces)) wake(row.workspace_id);
    },
    async settled() {
      for (;;) {
        while (running.size > 0) await Promise.all(running.values());
        if (stopped || ![...places.all()].some((id) => places.known(id)?.lagging.size)) return;
        await new Promise<void>((resolve) => restWaiters.push(resolve));
      }
    },
    async storeWork(scope, subject) {
      const place = places.known(scope.workspaceId);
      const lags = [...(place?.lagging ?? [])].filter(([name]) => (subject ?? name) === name);
      for (const [, lag] of lags) lag.isLookedAt = true;
      if (lags.length > 0) wake(scope.workspaceId);
      while (!stopped && lags.some(([name, lag]) => place?.lagging.get(name) === lag && !lag.isRefused))
        await new Promise<void>((resolve) => stepWaiters.push(resolve));
      await queue.storeHeld(scope, (unit) => (subject ?? unit.subject) === unit.subject);
    },
    async stop() {
      stopped = true;
      for (const cancel of timers.values()) cancel();
      await Promise.all(running.values());
    },
    async storeMarks() {
      for (const workspaceId of [...places.all()])
        if (places.known(workspaceId)?.hasWorked) await storeMark(workspaceId);
    },
  };
}

type Waiters = (() => void)[];

function told(waiters: Waiters): void {
  for (const resolve of waiters.splice(0)) resolve();
}

const hasNews = ({ hasWorked, lowWater, stored }: Place): boolean => hasWorked && lowWater > stored;
