// Runs the reactions and writes the projections. One reader of each workspace reads the log; what follows from up to 64
// events is one commit, with the positions of all readers.
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { backgroundCommitDelayMs, StoreError, type Op, type Scope } from '../../platform/store/store.ts';
import type { PlannedWrites } from '../changes/change.ts';
import { systemAuthor, type Committer } from '../changes/commit.ts';
import type { Context, Directory, Services } from '../context.ts';
import type { EventType } from '../events/catalogue.ts';
import { allWorkspaces, createLoops } from '../events/consumers/consumer.ts';
import {
  createFollower,
  createPages,
  type Follower,
  type Pages,
  type Plan,
  type Portion,
} from '../events/consumers/followers.ts';
import type { FreshEvents } from '../events/consumers/fresh.ts';
import type { Positions } from '../events/consumers/positions.ts';
import type { EventRow } from '../events/event.ts';
import type { Step } from '../events/reading.ts';
import { acting, nothing, type Reaction } from './reaction.ts';

/**
 * Time in milliseconds for which events are collected, so that several writes share one read, one commit and
 * one sync.
 */
const gatherMs = 50;
/** Time for planning changes before yielding to the event loop (milliseconds). */
const sliceMs = 1;
/** Delay in milliseconds after which a position past events without changes is stored. */
const effectlessMs = 1_000;
/** Maximum number of attempts to commit the writes of all reactions together while other commits change the same objects. */
const jointPlansMax = 3;
/** Maximum number of attempts to commit the writes of one reaction. */
const plansMax = 10;

export interface Reactions {
  start(): Promise<void>;
  /** Resolves once all events so far are processed. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export interface ReactionOptions {
  readonly services: Services;
  readonly committer: Committer;
  readonly fresh: FreshEvents;
  readonly positions: Positions;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}

export function createReactions(options: ReactionOptions, reactions: readonly Reaction[]): Reactions {
  const { store, log } = options.services;
  const step = createStep(options, reactions);
  const { wake, rest, stop } = createLoops({ name: 'reactions', log, step });
  const gathered = gather(wake);
  let hasStarted = false;
  options.fresh.onAdded((workspaceId) => {
    if (hasStarted) gathered.add(workspaceId);
  });
  return {
    async start() {
      hasStarted = true;
      for (const { workspace_id: id } of await store.readSystem(allWorkspaces)) wake(id);
    },
    async settled() {
      gathered.handOver();
      await rest();
    },
    async stop() {
      hasStarted = false;
      gathered.drop();
      await stop();
    },
  };
}

/** Collects workspaces with new events and wakes them after `gatherMs`. */
function gather(wake: (workspaceId: string) => void) {
  const workspaces = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  const drop = (): void => {
    if (timer) clearTimeout(timer);
    timer = null;
    workspaces.clear();
  };
  const handOver = (): void => {
    const ids = [...workspaces];
    drop();
    for (const id of ids) wake(id);
  };
  return {
    add(workspaceId: string): void {
      workspaces.add(workspaceId);
      timer ??= setTimeout(handOver, gatherMs);
    },
    handOver,
    drop,
  };
}

function createStep(options: ReactionOptions, reactions: readonly Reaction[]): Step {
  const { services, positions, fresh } = options;
  const { store, projections } = services;
  const followers = reactions.map((reaction) =>
    createFollower<PlannedWrites>({
      store,
      positions,
      consumer: `reaction ${reaction.name}`,
      subscribesTo: (type) => reaction.subscribesTo(type),
      plan: (scope, events) => planAnswers(options, reaction, scope, events),
      nothing,
    }),
  );
  const all = [...followers, ...projections.followers];
  const wants = (type: EventType): boolean => all.some((one) => one.subscribesTo(type));

  const attempt: Attempt = async (scope, some, isProjecting) => {
    const pages = createPages({ store, fresh }, scope, wants);
    const portions: Portion<PlannedWrites>[] = [];
    for (const follower of some) portions.push(await follower.next(scope, pages));
    if (!isProjecting) return commitPortions(options, scope, portions);
    return projections.exclusively(scope, async () => {
      portions.push(...(await project(services, scope, pages)));
      return commitPortions(options, scope, portions);
    });
  };
  return async (scope) => {
    try {
      for (let plans = 0; plans < jointPlansMax; plans++) {
        const more = await attempt(scope, followers, true);
        if (more !== null) return more;
      }
      return await commitApart(scope, followers, attempt);
    } catch (error) {
      for (const { forget } of all) forget(scope.workspaceId);
      throw error;
    }
  };
}

/** A failure, for example of a missing archive file, is logged, and does not stop the reactions. The next step tries again. */
async function project(
  { projections, log }: Services,
  scope: Scope,
  pages: Pages,
): Promise<Portion<PlannedWrites>[]> {
  const portions: Portion<PlannedWrites>[] = [];
  for (const follower of projections.followers)
    try {
      const portion = await follower.next(scope, pages);
      portions.push({ ...portion, writes: { changes: [], ops: portion.writes } });
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const { workspaceId } = scope;
      log('error', 'projection failed', {
        consumer: follower.consumer,
        workspaceId,
        error: errorForLog(error),
      });
    }
  return portions;
}

/**
 * Plans and commits the writes of some reactions together.
 * @param isProjecting true to include the projections
 * @returns true if more events may follow; null after a conflict with other changes
 */
type Attempt = (
  scope: Scope,
  some: readonly Follower<PlannedWrites>[],
  isProjecting: boolean,
) => Promise<boolean | null>;

/** Commits the writes of each reaction separately, so that one that cannot be committed does not stop the others. */
async function commitApart(
  scope: Scope,
  followers: readonly Follower<PlannedWrites>[],
  attempt: Attempt,
): Promise<true> {
  const insist: (...of: Parameters<Attempt>) => Promise<void> = async (...of) => {
    for (let plans = 0; plans < plansMax; plans++) if ((await attempt(...of)) !== null) return;
    const names = of[1].map(({ consumer }) => consumer).join();
    throw new Error(`The writes of ${names || 'the projections'} conflicted with other changes.`);
  };
  const outcomes: PromiseSettledResult<void>[] = [];
  for (const follower of followers)
    outcomes.push(...(await Promise.allSettled([insist(scope, [follower], false)])));
  outcomes.push(...(await Promise.allSettled([insist(scope, [], true)])));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
  return true;
}

/**
 * Commits writes together with the positions.
 * @returns true if more events may follow; null after a conflict with other changes
 * @throws StoreError; Error if another process moved a position
 */
async function commitPortions(
  { positions, committer, directoryOf }: ReactionOptions,
  scope: Scope,
  portions: readonly Portion<PlannedWrites>[],
): Promise<boolean | null> {
  const writing = portions.filter(
    ({ writes: { changes, ops = [] } }) => changes.length > 0 || ops.length > 0,
  );
  for (const portion of portions) if (!writing.includes(portion)) portion.moved(false);
  const more = portions.some((portion) => portion.more);
  if (writing.length === 0) {
    if (portions.some(({ isFar }) => isFar)) await positions.store(scope);
    // Events without changes must not be read again much later: a rule added in the meantime could match them.
    else if (portions.some(({ hasEvents }) => hasEvents))
      positions.storeAfter(effectlessMs, scope.workspaceId);
    return more;
  }
  const storing = positions.along(scope);
  const committed = await committer.commit(
    systemAuthor(scope, 'reactions', await directoryOf(scope)),
    writing.flatMap(({ writes }) => writes.changes),
    writing.map(({ moveOp }) => moveOp()),
    [...writing.flatMap(({ writes }) => writes.ops ?? []), ...storing.ops],
    { commitDelayMs: backgroundCommitDelayMs },
  );
  if (!committed.ok && committed.part === 'guard')
    throw new Error('Another process has moved the position of a reaction.');
  if (!committed.ok) return null;
  storing.stored();
  for (const { moved } of writing) moved(true);
  return more;
}

/**
 * Stops before the first event that must read the committed changes of an earlier one: an event of the same object, or
 * one whose changes touch an object that the earlier event changed.
 */
async function planAnswers(
  { services, directoryOf }: ReactionOptions,
  reaction: Reaction,
  scope: Scope,
  events: readonly EventRow[],
): Promise<Plan<PlannedWrites>> {
  const acts = acting(services, scope, reaction.name, await directoryOf(scope));
  const writes = { changes: [] as PlannedWrites['changes'][number][], ops: [] as Op[] };
  const changed = new Set<string>();
  const answeredObjects = new Set<string>();
  let planned = 0;
  let sinceMs = performance.now();
  for (const event of events) {
    const object = event.subjectId ?? event.entityId;
    if (answeredObjects.has(object)) break;
    const { changes, ops = [] } = await answerTo(reaction, { ...acts.ctx, cause: event.cause }, event);
    if (changes.some(({ id }) => changed.has(id))) break;
    planned++;
    if (changes.length > 0 || ops.length > 0) answeredObjects.add(object);
    for (const change of changes) {
      changed.add(change.id);
      writes.changes.push({ ...change, cause: event.cause, actor: acts.author.actor });
    }
    writes.ops.push(...ops);
    if (performance.now() - sinceMs < sliceMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sinceMs = performance.now();
  }
  return { writes, planned };
}

/** A failing event is logged and skipped: a retry would fail as well, and later events would wait. */
async function answerTo(reaction: Reaction, ctx: Context, event: EventRow): Promise<PlannedWrites> {
  try {
    return await reaction.react(ctx, event);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    ctx.log('error', 'reaction to an event failed', {
      reaction: reaction.name,
      workspaceId: ctx.workspaceId,
      eventId: event.id,
      error: errorForLog(error),
    });
    return nothing;
  }
}
