// One step of a consumer in one workspace: plans the work of lagging subscribers that have capacity again, then the
// next page of events.
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Op, Scope, Store } from '../../platform/store/store.ts';
import type { EventRow } from './event.ts';
import type { FreshEvents } from './consumers/fresh.ts';
import { lastSequence, pageAfter } from './log/log.ts';
import type { Lag, ConsumerPosition, ConsumerPositions } from './consumers/consumer-positions.ts';
import type { Unit, UnitQueue } from './work/queue.ts';
import { writtenAfterMs } from './work/window.ts';

const pageEvents = 200;
/**
 * Number of events without work after which the mark is stored: reading them again after a crash is harmless.
 */
const idleEvents = 2_000;
/** Interval of looks at lagging subscribers. */
export const lookMs = 250;
/** Time without progress after which the work of a lagging subscriber is stored; until then the log has it. */
const stuckMs = writtenAfterMs;
/** Number of events that a subscriber may lag behind before its work is stored. */
const lagMax = 10_000;

/** Work planned from events, in log order. */
interface Plan<U> {
  readonly units: readonly U[];
  /** Records of refused work. */
  readonly notes: readonly Op[];
  /** Last planned sequence if that is not the last event; the remaining events are planned in the next call. */
  readonly through?: number;
}

export interface LogReadingOptions<U extends Unit> {
  readonly store: Store;
  readonly clock: Clock;
  readonly fresh: FreshEvents;
  readonly queue: UnitQueue<U>;
  /** Returns who subscribes in a workspace; if nobody does, the events are skipped unread. */
  listens(scope: Scope): Promise<Listening>;
  /** @param isNew returns true if no work with that id exists yet; existing work must not be planned */
  plan(
    scope: Scope,
    events: readonly EventRow[],
    isMeant: Meant,
    isNew: (id: string) => Promise<boolean>,
  ): Promise<Plan<U>>;
  /** Returns true if work with that id is stored. */
  isStored(scope: Scope, id: string): Promise<boolean>;
}

export interface Listening {
  /** True if anyone subscribes now. */
  readonly isAny: boolean;
  /** Last event that is matched against earlier subscriptions; 0 if there are none. */
  readonly pastUntil: number;
}

/** Returns true if the work of a subscriber for an event is to be planned. */
type Meant = (subject: string, sequence: number) => boolean;

interface ReadingParts<U extends Unit> extends LogReadingOptions<U> {
  readonly positions: ConsumerPositions;
  /** Called when work of a workspace is done or stored. */
  onSettled(workspaceId: string): void;
  isStopped(): boolean;
  /** Stores the low-water marks of a workspace. */
  storeMarks(scope: Scope): Promise<void>;
}

/** @returns true if more work may be available now */
export type Step = (scope: Scope) => Promise<boolean>;

export function createStep<U extends Unit>(parts: ReadingParts<U>): Step {
  const step = async (scope: Scope, position: ConsumerPosition): Promise<boolean> => {
    const hasRead = await readOn(parts, scope, position);
    const hasStored = await storeStuck(parts, scope, position);
    let hasMoved = false;
    for (const [subject, lag] of position.lagging) {
      if (parts.isStopped()) return false;
      if (lag.after < position.at && (await catchUp(parts, scope, position, subject, lag))) hasMoved = true;
      if (lag.after >= position.at) position.lagging.delete(subject);
    }
    return hasRead || hasStored || hasMoved;
  };
  return (scope) =>
    parts.positions.using(scope, async (position) => {
      try {
        const goesOn = await step(scope, position);
        position.hasFailed = false;
        return goesOn;
      } catch (error) {
        // The next step reads the events again, and some of their work is already in progress.
        position.hasFailed = true;
        position.againThrough = await lastSequence(parts.store, scope);
        throw error;
      }
    });
}

/** Plans the next page of events. Returns false if there is none. */
async function readOn<U extends Unit>(
  parts: ReadingParts<U>,
  scope: Scope,
  position: ConsumerPosition,
): Promise<boolean> {
  const { store, fresh } = parts;
  const handed = fresh.after(scope.workspaceId, position.at, pageEvents);
  // The end of the log is read before the subscriptions, so a new subscriber misses no event.
  const end = handed ? (handed.at(-1)?.sequence ?? position.at) : await lastSequence(store, scope);
  if (end === position.at) return false;
  const { isAny, pastUntil } = await parts.listens(scope);
  position.pastUntil = pastUntil;
  if (isAny || pastUntil > position.at) {
    const events = handed ?? (await eventsAfter(parts, scope, position.at));
    if (events.length === 0) return false;
    const isMeant = (subject: string): boolean => !position.lagging.has(subject);
    const { units, through } = await planned(parts, scope, position, events, isMeant);
    const movedMs = parts.clock.monotonicMs();
    for (const [subject, sequence] of await offer(parts, position, units))
      position.lagging.set(subject, { after: sequence - 1, movedMs, isLookedAt: false });
    position.at = through ?? events.at(-1)!.sequence;
  } else position.at = end;
  if (position.lowWater - position.stored >= idleEvents) await parts.storeMarks(scope);
  return true;
}

/** Stores the next page of work of lagging subscribers that are stuck or being listed. */
async function storeStuck<U extends Unit>(
  parts: ReadingParts<U>,
  scope: Scope,
  position: ConsumerPosition,
): Promise<boolean> {
  const nowMs = parts.clock.monotonicMs();
  const isStuck = (lag: Lag): boolean =>
    lag.isLookedAt || position.at - lag.after > lagMax || nowMs - lag.movedMs >= stuckMs;
  const stuck = new Map([...position.lagging].filter(([, lag]) => lag.after < position.at && isStuck(lag)));
  for (const [subject, { isLookedAt }] of stuck)
    if (!isLookedAt && parts.queue.hasCapacity(scope, subject)) stuck.delete(subject);
  if (stuck.size === 0) return false;
  const from = Math.min(...[...stuck.values()].map(({ after }) => after));
  const events = (await eventsAfter(parts, scope, from)).filter(({ sequence }) => sequence <= position.at);
  if (events.length === 0) return false;
  const isMeant = (subject: string, sequence: number): boolean =>
    sequence > (stuck.get(subject)?.after ?? Infinity);
  const plan = await planned(parts, scope, position, events, isMeant);
  await storeUnits(parts, position, plan.units);
  const through = plan.through ?? events.at(-1)!.sequence;
  for (const lag of stuck.values()) {
    if (lag.after >= through) continue;
    lag.after = through;
    lag.movedMs = nowMs - stuckMs;
  }
  return true;
}

/** Plans work for a lagging subscriber, within its queue capacity. @returns true if it made progress */
async function catchUp<U extends Unit>(
  parts: ReadingParts<U>,
  scope: Scope,
  position: ConsumerPosition,
  subject: string,
  lag: Lag,
): Promise<boolean> {
  if (lag.isLookedAt || !parts.queue.hasCapacity(scope, subject)) return false;
  const events = (await eventsAfter(parts, scope, lag.after)).filter(
    ({ sequence }) => sequence <= position.at,
  );
  if (events.length === 0) return false;
  const plan = await planned(parts, scope, position, events, (one) => one === subject);
  const last = plan.through ?? events.at(-1)!.sequence;
  const refused = await offer(parts, position, plan.units);
  const through = (refused.get(subject) ?? last + 1) - 1;
  if (through <= lag.after) return false;
  lag.after = through;
  lag.movedMs = parts.clock.monotonicMs();
  return true;
}

async function eventsAfter<U extends Unit>(
  { store, fresh }: ReadingParts<U>,
  scope: Scope,
  after: number,
): Promise<readonly EventRow[]> {
  return (
    fresh.after(scope.workspaceId, after, pageEvents) ??
    (await pageAfter(store, scope, after, { limit: pageEvents })).events
  );
}

/** Returns the plan without work that an earlier read of the same events has planned. */
async function planned<U extends Unit>(
  { store, queue, plan, isStored }: ReadingParts<U>,
  scope: Scope,
  position: ConsumerPosition,
  events: readonly EventRow[],
  isMeant: Meant,
): Promise<Plan<U>> {
  const isAgain = events[0]!.sequence <= position.againThrough;
  const isNew = async (id: string): Promise<boolean> =>
    !isAgain || !(queue.isActive(id) || (await isStored(scope, id)));
  const newPlan = await plan(scope, events, isMeant, isNew);
  if (newPlan.notes.length > 0) {
    position.workedThrough = Math.max(position.workedThrough, events.at(-1)!.sequence);
    await store.commit(newPlan.notes);
  }
  return newPlan;
}

/** @returns the sequence at which each subscriber was refused because its queue is full */
async function offer<U extends Unit>(
  parts: ReadingParts<U>,
  position: ConsumerPosition,
  units: readonly U[],
): Promise<ReadonlyMap<string, number>> {
  const refused = new Map<string, number>();
  for (const unit of units) {
    if (refused.has(unit.subject)) continue;
    position.open(unit.sequence);
    let isTaken = false;
    try {
      isTaken = await parts.queue.offer(unit, settler(parts, position, unit));
    } finally {
      if (!isTaken) position.close(unit.sequence);
    }
    if (!isTaken) refused.set(unit.subject, unit.sequence);
  }
  return refused;
}

/** Stores work that the queue has no capacity for. */
async function storeUnits<U extends Unit>(
  parts: ReadingParts<U>,
  position: ConsumerPosition,
  units: readonly U[],
): Promise<void> {
  if (units.length === 0) return;
  for (const unit of units) position.open(unit.sequence);
  await parts.queue.store(units, (unit) => settler(parts, position, unit)());
}

function settler<U extends Unit>(
  { onSettled }: ReadingParts<U>,
  position: ConsumerPosition,
  unit: U,
): () => void {
  return () => {
    position.close(unit.sequence);
    onSettled(unit.scope.workspaceId);
  };
}
