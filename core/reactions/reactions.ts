// Runs the reactions: each reads the log of every workspace from its own place on, a batch at a time.
import type { Committer } from '../changes/commit.ts';
import type { Context, Directory, Services } from '../context.ts';
import { allWorkspaces } from '../events/consumer.ts';
import type { EventRow } from '../events/event.ts';
import type { FreshEvents } from '../events/fresh.ts';
import { lastSequence, pageAfter } from '../events/log.ts';
import { createLoops } from '../events/loops.ts';
import type { Clock } from '../lib/clock.ts';
import { errorForLog } from '../lib/failures.ts';
import { backgroundCommitDelayMs, StoreError, type Op, type Scope } from '../store/store.ts';
import { acting } from './context.ts';
import { createPlaces } from './places.ts';
import type { Answer, Reaction } from './reaction.ts';

const pageEvents = 200;
/** Events that are answered in one commit: the loop is held for no longer than it takes to hand these over. */
const answeredAtOnce = 16;
/** Events are gathered so long, so that those of several writes share one look, one commit and one sync (milliseconds). */
const gatherMs = 50;
/** What events mean is worked out for so long before the loop looks for what came in (milliseconds). */
const sliceMs = 1;
/** An answer is planned anew so often when others change the same at the same moment. */
const plansMax = 10;

export interface Reactions {
  /** Reads on in every workspace. */
  start(): Promise<void>;
  /** Resolves once every event so far is answered. */
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

/** Workspaces with new events, handed over a moment after the first of them. */
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
  const places = createPlaces({ store, clock, log, consumer });
  const answering = { ...options, reaction };

  const step = async (scope: Scope): Promise<boolean> => {
    const { at } = await places.of(scope);
    const page = await nextEvents(options, scope, at, reaction);
    for (const batch of batchesOf(page.events))
      for (let open = batch; open.length > 0;) {
        const { answered, hasWritten } = await answer(answering, scope, open, (to) =>
          places.moveOp(scope, to),
        );
        await places.moved(scope, open[answered - 1]!.sequence, hasWritten);
        open = open.slice(answered);
      }
    if (page.through > (await places.of(scope)).at) await places.moved(scope, page.through, false);
    return page.more;
  };

  const loops = createLoops({
    name: consumer,
    log,
    async step(scope) {
      try {
        return await step(scope);
      } catch (error) {
        places.forget(scope.workspaceId);
        throw error;
      }
    },
    onRest: places.rest,
  });
  return {
    wake: loops.wake,
    rest: loops.rest,
    async stop() {
      await loops.stop();
      await places.stop();
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
    const events = handed.filter(({ type }) => reaction.wants(type));
    // What comes meanwhile is gathered anew.
    return { events, through, more: handed.length === pageEvents };
  }
  if ((await lastSequence(store, scope)) <= after) return { events: [], through: after, more: false };
  return pageAfter(store, scope, after, {
    limit: pageEvents,
    wants: ({ type }) => reaction.wants(type as EventRow['type']),
  });
}

/** Consecutive events, no two of the same object. */
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
  /** How many of the events, from the first on. */
  readonly answered: number;
  /** Whether anything was written. */
  readonly hasWritten: boolean;
}

/**
 * Commits what some events mean, with the place behind them.
 * @param moveTo moves the place behind the event of a sequence. @throws StoreError, and Error where another moved it
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
  throw new Error(`The events up to ${events.at(-1)?.sequence} were not answered: others changed the same.`);
}

/** Up to the first event that changes what an earlier one does: that is answered once the earlier answer can be read. */
async function answersTo(on: Answering, ctx: Context, events: readonly EventRow[]): Promise<Answer[]> {
  const answers: Answer[] = [];
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

/** What cannot be answered is passed over and said, so that what comes behind it is: it would fail the next time as well. */
async function answerTo({ reaction, services }: Answering, ctx: Context, event: EventRow): Promise<Answer> {
  try {
    const { changes, ops = [] } = await reaction.react(ctx, event);
    return { changes: changes.map((change) => ({ ...change, cause: event.cause })), ops };
  } catch (error) {
    if (error instanceof StoreError) throw error;
    services.log('error', 'an event was not answered', {
      ...{ reaction: reaction.name, workspaceId: ctx.workspaceId, eventId: event.id },
      error: errorForLog(error),
    });
    return { changes: [] };
  }
}
