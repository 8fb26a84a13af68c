// Runs the reactions. Each reads the log of every workspace from its own cursor, in batches.
import type { PlannedWrites } from '../changes/change.ts';
import type { Committer } from '../changes/commit.ts';
import type { Context, Directory, Services } from '../context.ts';
import { allWorkspaces, createLoops } from '../events/consumers/consumer.ts';
import type { EventRow } from '../events/event.ts';
import type { FreshEvents } from '../events/consumers/fresh.ts';
import { lastSequence, pageAfter } from '../events/log/log.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { backgroundCommitDelayMs, StoreError, type Op, type Scope } from '../../platform/store/store.ts';
import { acting, createReactionCursors, type Reaction } from './reaction.ts';

const pageEvents = 200;
/** Maximum number of events per commit, which bounds the time that a commit blocks the event loop. */
const answeredAtOnce = 16;
/**
 * Time in milliseconds for which events are collected, so that several writes share one read, one commit and
 * one sync.
 */
const gatherMs = 50;
/** Time for planning changes before yielding to the event loop (milliseconds). */
const sliceMs = 1;
/** Maximum number of attempts to plan a batch while other commits change the same objects. */
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
  readonly clock: Clock;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}

export function createReactions(options: ReactionOptions, reactions: readonly Reaction[]): Reactions {
  const { store } = options.services;
  const readers = reactions.map((reaction) => createReader(options, reaction));
  const wake = (workspaceId: string): void => {
    for (const reader of readers) reader.wake(workspaceId);
  };
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
      for (const reader of readers) await reader.rest();
    },
    async stop() {
      hasStarted = false;
      gathered.drop();
      for (const reader of readers) await reader.stop();
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

function createReader(options: ReactionOptions, reaction: Reaction) {
  const { clock } = options;
  const { store, log } = options.services;
  const consumer = `reaction ${reaction.name}`;
  const cursors = createReactionCursors({ store, clock, log, consumer });
  const answering = { ...options, reaction };

  const step = async (scope: Scope): Promise<boolean> => {
    const { at } = await cursors.of(scope);
    const page = await nextEvents(options, scope, at, reaction);
    for (const batch of batchesOf(page.events))
      for (let open = batch; open.length > 0;) {
        const { answered, hasWritten } = await answer(answering, scope, open, (to) =>
          cursors.moveOp(scope, to),
        );
        await cursors.moved(scope, open[answered - 1]!.sequence, hasWritten);
        open = open.slice(answered);
      }
    if (page.through > (await cursors.of(scope)).at) await cursors.moved(scope, page.through, false);
    return page.more;
  };

  const loops = createLoops({
    name: consumer,
    log,
    async step(scope) {
      try {
        return await step(scope);
      } catch (error) {
        cursors.forget(scope.workspaceId);
        throw error;
      }
    },
    onRest: cursors.rest,
  });
  return {
    wake: loops.wake,
    rest: loops.rest,
    async stop() {
      await loops.stop();
      await cursors.stop();
    },
  };
}

async function nextEvents(
  { services: { store }, fresh }: ReactionOptions,
  scope: Scope,
  after: number,
  reaction: Reaction,
): Promise<{ events: readonly EventRow[]; through: number; more: boolean }> {
  const handed = fresh.after(scope.workspaceId, after, pageEvents);
  if (handed) {
    const through = handed.at(-1)?.sequence ?? after;
    const events = handed.filter(({ type }) => reaction.subscribesTo(type));
    // Events that are appended in the meantime wake the reader again.
    return { events, through, more: handed.length === pageEvents };
  }
  if ((await lastSequence(store, scope)) <= after) return { events: [], through: after, more: false };
  return pageAfter(store, scope, after, {
    limit: pageEvents,
    matches: ({ type }) => reaction.subscribesTo(type as EventRow['type']),
  });
}

/** Yields runs of consecutive events in which no object occurs twice. */
function* batchesOf(events: readonly EventRow[]): Generator<readonly EventRow[]> {
  let batch: EventRow[] = [];
  let objects = new Set<string>();
  for (const event of events) {
    const object = event.subjectId ?? event.entityId;
    if (objects.has(object) || batch.length === answeredAtOnce) {
      yield batch;
      batch = [];
      objects = new Set();
    }
    batch.push(event);
    objects.add(object);
  }
  if (batch.length > 0) yield batch;
}

interface Answering extends ReactionOptions {
  readonly reaction: Reaction;
}

interface Answered {
  /** Number of processed events, counted from the start of the batch. */
  readonly answered: number;
  readonly hasWritten: boolean;
}

/**
 * Commits the changes for a batch of events together with the cursor.
 * @param moveTo returns the op that moves the cursor to a sequence
 * @throws StoreError; Error if another process moved the cursor, or after repeated conflicts
 */
async function answer(
  on: Answering,
  scope: Scope,
  events: readonly EventRow[],
  moveTo: (sequence: number) => Op,
): Promise<Answered> {
  const { services, committer, directoryOf, reaction } = on;
  for (let plans = 0; plans < plansMax; plans++) {
    const { ctx, author } = acting(services, scope, reaction.name, await directoryOf(scope));
    const answers = await answersTo(on, ctx, events);
    const changes = answers.flatMap(({ changes }) => changes);
    const ops = answers.flatMap(({ ops = [] }) => ops);
    const answered = answers.length;
    if (changes.length === 0 && ops.length === 0) return { answered, hasWritten: false };
    const move = moveTo(events[answered - 1]!.sequence);
    const options = { commitDelayMs: backgroundCommitDelayMs };
    const committed = await committer.commit(author, changes, [move], ops, options);
    if (committed.ok) return { answered, hasWritten: true };
    if (committed.part === 'guard') break;
  }
  throw new Error(
    `The reaction to events up to ${events.at(-1)?.sequence} was not committed: it conflicted with other changes.`,
  );
}

/**
 * Stops before the first event whose changes touch an object that an earlier event changed, because that
 * event must read the committed changes.
 */
async function answersTo(on: Answering, ctx: Context, events: readonly EventRow[]): Promise<PlannedWrites[]> {
  const answers: PlannedWrites[] = [];
  const changed = new Set<string>();
  let sinceMs = performance.now();
  for (const event of events) {
    const answer = await answerTo(on, { ...ctx, cause: event.cause }, event);
    if (answer.changes.some(({ id }) => changed.has(id))) break;
    for (const { id } of answer.changes) changed.add(id);
    answers.push(answer);
    if (performance.now() - sinceMs < sliceMs) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sinceMs = performance.now();
  }
  return answers;
}

/** A failing event is logged and skipped: a retry would fail as well, and later events would wait. */
async function answerTo(
  { reaction, services }: Answering,
  ctx: Context,
  event: EventRow,
): Promise<PlannedWrites> {
  try {
    const { changes, ops = [] } = await reaction.react(ctx, event);
    return { changes: changes.map((change) => ({ ...change, cause: event.cause })), ops };
  } catch (error) {
    if (error instanceof StoreError) throw error;
    services.log('error', 'reaction to an event failed', {
      reaction: reaction.name,
      workspaceId: ctx.workspaceId,
      eventId: event.id,
      error: errorForLog(error),
    });
    return { changes: [] };
  }
}
