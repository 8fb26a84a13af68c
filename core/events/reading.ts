// One step of a consumer in one workspace: the work of those who lag behind and have room again, then the next page of events.
import type { Clock } from '../lib/clock.ts';
import type { Op, Scope, Store } from '../store/store.ts';
import type { EventRow } from './event.ts';
import type { FreshEvents } from './fresh.ts';
import { lastSequence, pageAfter } from './log.ts';
import type { Lag, Place, Places } from './places.ts';
import type { Unit, UnitQueue } from './work.ts';

const pageEvents = 200;
/** Without work the mark is only stored this often (events): reading again what meant nothing is harmless. */
const idleEvents = 2_000;
/** The work of a subject that has not got on for so long is stored, and no more than so many events are left to the log. */
export const stuckMs = 250;
const lagMax = 10_000;

/** What events mean, in their order. */
export interface Plan<U> {
  readonly units: readonly U[];
  /** Work that is refused is only recorded, under the id that it would have. */
  readonly notes: readonly { readonly id: string; readonly op: Op }[];
  /** Up to which event it goes where that is not the last: the others are asked for again. */
  readonly through?: number;
}

export interface ReadingOptions<U extends Unit> {
  readonly store: Store;
  readonly clock: Clock;
  readonly fresh: FreshEvents;
  readonly queue: UnitQueue<U>;
  /** Whether anybody in the workspace listens to any event now; if not, events are passed over unread. */
  listens(scope: Scope): Promise<boolean>;
  /** @param isMeant whose work is made */
  plan(scope: Scope, events: readonly EventRow[], isMeant: (subject: string) => boolean): Promise<Plan<U>>;
  /** Of these ids of work, those that are stored. */
  stored(scope: Scope, ids: readonly string[]): Promise<ReadonlySet<string>>;
}

interface ReadingParts<U extends Unit> extends ReadingOptions<U> {
  readonly places: Places;
  /** Work of a workspace is done or stored. */
  onSettled(workspaceId: string): void;
  isStopped(): boolean;
}

/** @returns whether there may be more to do at once */
export type Step = (scope: Scope) => Promise<boolean>;

export function createStep<U extends Unit>(parts: ReadingParts<U>): Step {
  return async (scope) => {
    const place = await parts.places.of(scope);
    let hasMoved = false;
    for (const [subject, lag] of place.lagging) {
      if (parts.isStopped()) return false;
      if (lag.after < place.at) hasMoved = (await catchUp(parts, scope, place, subject, lag)) || hasMoved;
      if (lag.after >= place.at) place.lagging.delete(subject);
    }
    return (await readOn(parts, scope, place)) || hasMoved;
  };
}

/** Makes the work of one who lags behind, as far as it has room; stores it instead where it is stuck, or somebody wants to see it. */
async function catchUp<U extends Unit>(
  parts: ReadingParts<U>,
  scope: Scope,
  place: Place,
  subject: string,
  lag: Lag,
): Promise<boolean> {
  const { queue, clock } = parts;
  const nowMs = clock.monotonicMs();
  const hasRoom = queue.hasRoom(scope, subject) && !lag.isLookedAt;
  const isStuck = lag.isLookedAt || place.at - lag.after > lagMax || nowMs - lag.movedMs >= stuckMs;
  if (!hasRoom && !isStuck) return false;
  const events = (await eventsAfter(parts, scope, lag.after)).filter(({ sequence }) => sequence <= place.at);
  const plan = await planned(parts, scope, place, events, (one) => one === subject);
  const last = plan.through ?? events.at(-1)?.sequence ?? place.at;
  let through = last;
  if (hasRoom) {
    const refused = await offer(parts, place, plan.units);
    through = (refused.get(subject) ?? last + 1) - 1;
  } else {
    lag.isRefused = true;
    await keep(parts, place, plan.units);
    lag.isRefused = false;
  }
  const hasMoved = through > lag.after;
  lag.after = through;
  if (hasMoved) lag.movedMs = nowMs;
  return hasMoved;
}

/** The next page; false where there is none. */
async function readOn<U extends Unit>(parts: ReadingParts<U>, scope: Scope, place: Place): Promise<boolean> {
  const { store, fresh, places } = parts;
  const handed = fresh.after(scope.workspaceId, place.at, pageEvents);
  // First the end of the log, then whether anybody listens: who begins to listen in between misses nothing.
  const end = handed ? (handed.at(-1)?.sequence ?? place.at) : await lastSequence(store, scope);
  if (end === place.at) return false;
  if (!(await parts.listens(scope))) {
    place.at = end;
    if (end - place.stored >= idleEvents) await places.store(scope);
    return true;
  }
  const events = handed ?? (await eventsAfter(parts, scope, place.at));
  if (events.length === 0) return false;
  const last = events.at(-1)!.sequence;
  try {
    const { units, through } = await planned(parts, scope, place, events, (one) => !place.lagging.has(one));
    const movedMs = parts.clock.monotonicMs();
    for (const [subject, sequence] of await offer(parts, place, units))
      place.lagging.set(subject, { after: sequence - 1, movedMs, isLookedAt: false, isRefused: false });
    place.at = through ?? last;
  } catch (error) {
    // It is read again, and some of its work is under way.
    place.againThrough = Math.max(place.againThrough, last);
    throw error;
  }
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

/** The plan, without what an earlier reading has made of the same events. */
async function planned<U extends Unit>(
  { store, queue, plan, stored }: ReadingParts<U>,
  scope: Scope,
  place: Place,
  events: readonly EventRow[],
  isMeant: (subject: string) => boolean,
): Promise<Plan<U>> {
  const made = await plan(scope, events, isMeant);
  let { units, notes } = made;
  const first = events[0]?.sequence ?? Infinity;
  if (first <= place.againThrough && units.length + notes.length > 0) {
    const known = await stored(
      scope,
      [...units, ...notes].map(({ id }) => id),
    );
    units = units.filter(({ id }) => !known.has(id) && !queue.isHeld(id));
    notes = notes.filter(({ id }) => !known.has(id));
  }
  if (notes.length > 0) {
    place.hasWorked = true;
    await store.commit(notes.map(({ op }) => op));
  }
  return { ...made, units, notes };
}

/** @returns where each subject stopped that had no room for more */
async function offer<U extends Unit>(
  parts: ReadingParts<U>,
  place: Place,
  units: readonly U[],
): Promise<ReadonlyMap<string, number>> {
  const refused = new Map<string, number>();
  for (const unit of units) {
    if (refused.has(unit.subject)) continue;
    place.open(unit.sequence);
    if (await parts.queue.offer(unit, settler(parts, place, unit))) continue;
    place.close(unit.sequence);
    refused.set(unit.subject, unit.sequence);
  }
  return refused;
}

/** Stores work that has no room. */
async function keep<U extends Unit>(
  parts: ReadingParts<U>,
  place: Place,
  units: readonly U[],
): Promise<void> {
  for (const unit of units) place.open(unit.sequence);
  await parts.queue.store(units, (unit) => settler(parts, place, unit)());
}

function settler<U extends Unit>({ onSettled }: ReadingParts<U>, place: Place, unit: U): () => void {
  return () => {
    place.close(unit.sequence);
    onSettled(unit.scope.workspaceId);
  };
}
