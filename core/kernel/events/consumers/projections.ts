// Projections are tables that follow from the log alone, such as the search index. They are written in the background
// together with reactions, and before a read that needs the events up to now. The rows of one workspace are planned and
// committed by one caller at a time.
import { ArchiveError } from '../../../platform/store/files/archive.ts';
import { type Op, type Scope, type Store, StoreError } from '../../../platform/store/store.ts';
import type { EventType } from '../catalogue.ts';
import type { EventRow } from '../event.ts';
import { createFollower, createPages, type Follower, type LogSource } from './followers.ts';
import type { Positions } from './positions.ts';

export interface Projection {
  /**
   * Name of the position, such as `search`. Without a stored position, for example after an import, the projection starts
   * at the first event.
   */
  readonly name: string;
  subscribesTo(type: EventType): boolean;
  /** Returns the ops that follow from events, which include only subscribed ones, in log order. */
  project(store: Store, scope: Scope, events: readonly EventRow[]): Promise<readonly Op[]>;
}

/** Prefix of the rows of projections in `cursors`. */
const prefix = 'projection';

export interface Projections {
  readonly followers: readonly Follower<readonly Op[]>[];
  /** Runs work while no other caller writes the projections of the workspace. */
  exclusively<T>(scope: Scope, work: () => Promise<T>): Promise<T>;
  /**
   * Writes the projections of all events so far.
   * @returns false if the store refuses writes, an archive file is missing, or events are left after `untilMs` of `performance.now`
   */
  catchUp(scope: Scope, untilMs: number): Promise<boolean>;
}

export function createProjections(
  source: LogSource & { readonly positions: Positions },
  projections: readonly Projection[],
): Projections {
  const { store, positions } = source;
  const followers = projections.map((projection) =>
    createFollower<readonly Op[]>({
      store,
      positions,
      consumer: `${prefix} ${projection.name}`,
      subscribesTo: projection.subscribesTo,
      async plan(scope, events) {
        return { writes: await projection.project(store, scope, events), planned: events.length };
      },
      nothing: [],
    }),
  );
  const exclusively = createExclusion();
  const wants = (type: EventType): boolean => followers.some((one) => one.subscribesTo(type));

  /** @returns true if there may be more events */
  const step = async (scope: Scope): Promise<boolean> => {
    const pages = createPages(source, scope, wants);
    let more = false;
    for (const follower of followers) {
      const portion = await follower.next(scope, pages);
      const isWriting = portion.writes.length > 0;
      if (isWriting) {
        const outcome = await store.commit([portion.moveOp(), ...portion.writes]);
        if (!outcome.ok && outcome.reason !== 'lost_race')
          throw new Error(`The projection could not be written: ${outcome.message}`);
        // Another process has moved the position.
        if (!outcome.ok) follower.forget(scope.workspaceId);
        if (!outcome.ok) return true;
      }
      portion.moved(isWriting);
      more ||= portion.more;
    }
    return more;
  };

  return {
    followers,
    exclusively,
    catchUp: (scope, untilMs) =>
      exclusively(scope, async () => {
        try {
          while (await step(scope)) if (performance.now() > untilMs) return false;
          return true;
        } catch (error) {
          for (const { forget } of followers) forget(scope.workspaceId);
          if (error instanceof StoreError || error instanceof ArchiveError) return false;
          throw error;
        }
      }),
  };
}

/** Runs the work of a workspace one after the other, in the order of the calls. */
function createExclusion(): Projections['exclusively'] {
  const last = new Map<string, Promise<void>>();
  return async ({ workspaceId }, work) => {
    const before = last.get(workspaceId);
    const { promise, resolve } = Promise.withResolvers<void>();
    last.set(workspaceId, promise);
    await before;
    try {
      return await work();
    } finally {
      if (last.get(workspaceId) === promise) last.delete(workspaceId);
      resolve();
    }
  };
}
