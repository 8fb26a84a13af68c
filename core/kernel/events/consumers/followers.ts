// Followers handle the events of the log in order, each from a position of its own, and write what follows from them.
// Followers at the same position share a page of events, and a batch commits what several of them write together with
// their positions.
import { type Op, type Scope, type Store, tenantOp } from '../../../platform/store/store.ts';
import type { EventType } from '../catalogue.ts';
import type { EventRow } from '../event.ts';
import { lastSequence, pageAfter } from '../log/log.ts';
import type { FreshEvents } from './fresh.ts';
import { moveCursor, readCursor, type Positions } from './positions.ts';

const pageEvents = 200;
/** Maximum number of events per commit, which bounds the time that a commit blocks the event loop and other writes. */
const eventsAtOnce = 64;
/** Number of events without effect after which the position is stored. */
const idleEvents = 2_000;

interface EventPage {
  /** Events that any follower subscribes to. */
  readonly events: readonly EventRow[];
  /** Sequence of the last examined event. */
  readonly through: number;
  readonly more: boolean;
}

/** Returns the page after a sequence. */
export type Pages = (after: number) => Promise<EventPage>;

export interface LogSource {
  readonly store: Store;
  readonly fresh: FreshEvents;
}

/** Reads each page once. */
export function createPages(source: LogSource, scope: Scope, wants: (type: EventType) => boolean): Pages {
  const pages = new Map<number, Promise<EventPage>>();
  return (after) => {
    const page = pages.get(after) ?? readPage(source, scope, after, wants);
    pages.set(after, page);
    return page;
  };
}

async function readPage(
  { store, fresh }: LogSource,
  scope: Scope,
  after: number,
  wants: (type: EventType) => boolean,
): Promise<EventPage> {
  const handed = fresh.after(scope.workspaceId, after, pageEvents);
  if (!handed) {
    if ((await lastSequence(store, scope)) <= after) return { events: [], through: after, more: false };
    const matches = ({ type }: { readonly type: EventType }): boolean => wants(type);
    return pageAfter(store, scope, after, { limit: pageEvents, eventsMax: eventsAtOnce, matches });
  }
  const events: EventRow[] = [];
  let through = after;
  for (const event of handed) {
    if (wants(event.type)) {
      if (events.length === eventsAtOnce) return { events, through, more: true };
      events.push(event);
    }
    through = event.sequence;
  }
  // Events that are appended in the meantime wake the reader again.
  return { events, through, more: handed.length === pageEvents };
}

interface LogPosition {
  /** Sequence of the last handled event. */
  at: number;
  stored: number;
  /** Last event to which the follower subscribes, and from which nothing followed. */
  effectlessThrough: number;
}

/** Writes that follow from the next events of a follower. */
export interface Portion<W> {
  readonly writes: W;
  /** True if the follower subscribes to any of the events. */
  readonly hasEvents: boolean;
  readonly more: boolean;
  /** True if the events are many enough that their position must be stored now. */
  readonly isFar: boolean;
  /** Returns an op that moves the stored position, and fails its batch if another process has moved it. */
  moveOp(): Op;
  /** Call once the events are handled. @param isStored true if a batch with `moveOp` has been committed */
  moved(isStored: boolean): void;
}

/** Plans the writes that follow from events, for the first `planned` of them. */
export interface Plan<W> {
  readonly writes: W;
  readonly planned: number;
}

export interface Follower<W> {
  readonly consumer: string;
  subscribesTo(type: EventType): boolean;
  /** @throws errors of the plan, StoreError */
  next(scope: Scope, pages: Pages): Promise<Portion<W>>;
  /** Drops the cached position, because another process may have moved it. */
  forget(workspaceId: string): void;
}

export interface FollowerOptions<W> {
  readonly store: Store;
  readonly positions: Positions;
  /** Key of the rows in `cursors`. */
  readonly consumer: string;
  subscribesTo(type: EventType): boolean;
  /** @param events not empty @returns at least one planned event */
  plan(scope: Scope, events: readonly EventRow[]): Promise<Plan<W>>;
  readonly nothing: W;
}

export function createFollower<W>(options: FollowerOptions<W>): Follower<W> {
  const { store, positions, consumer, subscribesTo } = options;
  const known = new Map<string, LogPosition>();
  positions.add({
    consumer,
    workspaces: () => known.keys(),
    unstored(workspaceId) {
      const position = known.get(workspaceId);
      if (!position || position.at <= position.stored) return null;
      return { sequence: position.at, isDue: position.effectlessThrough > position.stored };
    },
    stored(workspaceId, sequence) {
      const position = known.get(workspaceId);
      if (position) position.stored = Math.max(position.stored, sequence);
    },
  });
  const of = async (scope: Scope): Promise<LogPosition> => {
    const cached = known.get(scope.workspaceId);
    if (cached) return cached;
    const stored = (await readCursor.one(store, scope, { consumer }))?.sequence ?? 0;
    const position = { at: stored, stored, effectlessThrough: 0 };
    known.set(scope.workspaceId, position);
    return position;
  };
  return {
    consumer,
    subscribesTo,
    forget: (workspaceId) => void known.delete(workspaceId),
    async next(scope, pages) {
      const position = await of(scope);
      const page = await pages(position.at);
      const events = page.events.filter(({ type }) => subscribesTo(type));
      const hasEvents = events.length > 0;
      const { writes, planned } = hasEvents
        ? await options.plan(scope, events)
        : { writes: options.nothing, planned: 0 };
      const isAll = planned === events.length;
      const to = isAll ? page.through : events[planned - 1]!.sequence;
      return {
        writes,
        hasEvents,
        more: !isAll || page.more,
        isFar: to - position.stored >= idleEvents,
        moveOp: () => tenantOp(scope, moveCursor, { consumer, from: position.stored, to }, { expectRows: 1 }),
        moved(isStored) {
          position.at = to;
          if (isStored) position.stored = to;
          else if (hasEvents) position.effectlessThrough = to;
        },
      };
    },
  };
}
