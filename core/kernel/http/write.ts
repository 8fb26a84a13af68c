// Executes a write: its route plans a change set, which the caller's mode stages (for a plugin run), simulates, stores as a proposal or
// commits. A commit with an idempotency key stores its response in the same batch.
import type { ChangeSet } from '../changes/change.ts';
import type { Committed, Committer } from '../changes/commit.ts';
import type { StagedWrite, Staging } from '../changes/staging.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { recordingIds } from '../../platform/lib/ids.ts';
import { readScopeOf } from '../rights/rights.ts';
import { requireRows, type ContentionQueues } from './limits/admission.ts';
import type { Call, ApprovalCheck, WrittenAnswer } from './call.ts';
import type { ContextOptions } from './request/context-of.ts';
import type { Exchange } from './requests.ts';
import type { IdempotencyKeys, KeyClaim } from './idempotency.ts';
import { pathOf, successStatusOf, type CheckedInput, type WriteRoute } from './route.ts';
import { isDeepStrictEqual } from 'node:util';

/** Number of times a write that loses races is planned, before the caller gets a conflict. */
const plansMax = 8;

export interface WriteOptions {
  readonly committer: Committer;
  readonly idempotency: IdempotencyKeys;
  readonly directoryOf: ContextOptions['directoryOf'];
  readonly contentionQueues: ContentionQueues;
  readonly propose: Propose;
}

/**
 * Creates the change set that stores a planned write for approval.
 * @param sinceMs start of the planning; later times in the plan are ignored when two plans are compared
 * @throws ApiError if the write changes nothing visible
 */
export interface Propose {
  (now: Context, write: StagedWrite, sinceMs: number): ChangeSet;
}

type Plan = (now: Context) => Promise<ChangeSet>;

export function createWrite(
  route: WriteRoute,
  options: WriteOptions,
): (call: Call, ctx: Context) => Promise<WrittenAnswer> {
  const { committer } = options;
  const answerOf = createAnswerOf(route);
  const commit = createCommit(route.name, options, answerOf);

  const stage = async (
    { input, origin }: Call,
    ctx: Context,
    staged: Staging,
    plan: Plan,
  ): Promise<WrittenAnswer> => {
    const { ids, created: generatedIds } = recordingIds(ctx.ids, origin.ids);
    const names = createResolvedNames();
    const set = await plan({ ...ctx, ids, resolved: names.note });
    if (set.ops && !staged.takesOps)
      throw new ApiError(
        'forbidden',
        'Plugins cannot call this operation. Call it with the key or session of a member.',
      );
    const requestedWrite = { operation: route.name, input: names.withIds(input), ids: generatedIds };
    staged.add(set.changes, requestedWrite, set.ops);
    return answerOf(set, committer.uncommitted(set.body));
  };

  const simulate = async (ctx: Context, plan: Plan): Promise<WrittenAnswer> => {
    const set = await plan(ctx);
    return answerOf(set, committer.uncommitted(set.simulated ?? set.body));
  };

  const commitOnce = async (call: Call, ctx: Context, plan: Plan, key: string): Promise<WrittenAnswer> => {
    const params = call.input.params as Readonly<Record<string, string>>;
    const claim = options.idempotency.claim(ctx.scope, call.principal.tokenId, {
      method: route.method,
      path: pathOf(route, params),
      key,
      text: textOf(call),
      value: call.input.body,
      secret: route.secret ?? false,
    });
    try {
      return (await claim.replay()) ?? (await commit(ctx, call.exchange, plan, claim));
    } finally {
      claim.release();
    }
  };

  return (call, ctx) => {
    const proposes = call.terms.mode === 'propose';
    const planned = planOf(route, ctx, call.input, proposes);
    const { hold } = call.terms;
    const judge = proposes ? alwaysPending : hold;
    const plan = judge ? proposing(route.name, options, call, planned, judge) : planned;
    if (ctx.staged) return stage(call, ctx, ctx.staged, plan);
    const { exchange, terms } = call;
    exchange.mode = terms.mode;
    if (terms.mode === 'simulate') return simulate(ctx, plan);
    const key = terms.idempotencyKey;
    const committing = key === null ? commit(ctx, exchange, plan, null) : commitOnce(call, ctx, plan, key);
    return committing.then((answer) => (answer.completed ? completedOf(answer, exchange) : answer));
  };
}

/** Returns the text by which requests with the same key are compared: mode, parameters and body. */
function textOf({ terms, bodyText, input }: Call): string {
  const parameters = Object.entries(input.query ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    terms.mode === 'propose' ? 'propose ' : '',
    parameters.length === 0 ? '' : JSON.stringify(parameters),
    bodyText ?? jsonOf(input.body) ?? '',
  ].join('');
}

const alwaysPending: ApprovalCheck = () => Promise.resolve({ waits: true });

/**
 * Returns a plan that stores a proposal if `judge` decides that the write waits, and executes the write
 * otherwise.
 */
function proposing(
  name: string,
  { propose }: WriteOptions,
  { input }: Call,
  plan: Plan,
  judge: ApprovalCheck,
): Plan {
  return async (now) => {
    const sinceMs = now.nowMs();
    const { ids, created: generatedIds } = recordingIds(now.ids);
    const names = createResolvedNames();
    const set = await plan({ ...now, ids, resolved: names.note });
    const decision = await judge(now, set);
    if (!decision.waits)
      return decision.ops.length === 0 ? set : { ...set, ops: [...(set.ops ?? []), ...decision.ops] };
    if (set.beforeCommit ?? set.afterCommit)
      throw new ApiError(
        'forbidden',
        `${name} cannot be proposed: it has effects other than changes of objects. Omit the header Tatami-Mode, or ask a person to perform the operation.`,
      );
    const requestedWrite = { operation: name, input: names.withIds(input), ids: generatedIds };
    return propose(now, { ...requestedWrite, changes: set.changes, ops: set.ops ?? [] }, sinceMs);
  };
}

/** Returns a function that plans and commits until no other writer interferes, and stores the response of a keyed request in the batch. */
function createCommit(
  routeName: string,
  { committer, directoryOf, contentionQueues }: WriteOptions,
  answerOf: AnswerOf,
) {
  const committedAnswer = (
    set: ChangeSet,
    stored: WrittenAnswer,
    committed: Extract<Committed, { ok: true }>,
  ): WrittenAnswer => {
    set.afterCommit?.();
    const body = committed.completed(set.body);
    const answer = body === set.body ? stored : answerOf(set, body);
    return set.completed ? { ...answer, completed: set.completed } : answer;
  };

  /**
   * Returns true if other writers of the same order wait: writes to one order are planned one after the
   * other.
   */
  const mustWait = ({ workspaceId }: Context, { changes }: ChangeSet): boolean =>
    changes.some(
      ({ order }) => order !== undefined && contentionQueues.isTaken(`${workspaceId} ${order.id}`),
    );

  const tryOnce = async (
    now: Context,
    { waiting }: Exchange,
    set: ChangeSet,
    claim: KeyClaim | null,
  ): Promise<Tried> => {
    const planned = answerOf(set, set.body);
    if (!claim && isNothing(set)) {
      set.afterCommit?.();
      return { answer: set.completed ? { ...planned, completed: set.completed } : planned };
    }
    const { stored, guards } = claim ? storeUnderKey(claim, set, planned) : { stored: planned, guards: [] };
    await set.beforeCommit?.();
    const handedMs = performance.now();
    const committed = await committer.commit(now, set.changes, guards, set.ops ?? []);
    waiting.ms += performance.now() - handedMs;
    if (committed.ok) return { answer: committedAnswer(set, stored, committed) };
    const earlier = claim && committed.part === 'guard' ? await claim.replay() : null;
    return earlier ? { answer: earlier } : { lost: committed };
  };

  return async (
    ctx: Context,
    exchange: Exchange,
    plan: Plan,
    claim: KeyClaim | null,
  ): Promise<WrittenAnswer> => {
    const first = await plan(ctx);
    const tried = mustWait(ctx, first) ? null : await tryOnce(ctx, exchange, first, claim);
    if (tried && 'answer' in tried) return tried.answer;
    const startedMs = performance.now();
    return contentionQueues.take(`${ctx.workspaceId} ${contendedOf(first) ?? routeName}`, async () => {
      exchange.waiting.ms += performance.now() - startedMs;
      for (let plans = 1; ; plans++) {
        // The directory may have changed since the last attempt, for example by a rename.
        const now = { ...ctx, directory: await directoryOf(ctx.scope) };
        const again = await tryOnce(now, exchange, await plan(now), claim);
        if ('answer' in again) return again.answer;
        if (plans >= plansMax - 1) throw notCommitted(again.lost);
      }
    });
  };
}

/** Counts the wait as wait time, because it uses no CPU time. */
async function completedOf(answer: WrittenAnswer, { waiting }: Exchange): Promise<WrittenAnswer> {
  const startedMs = performance.now();
  const better = await answer.completed?.();
  waiting.ms += performance.now() - startedMs;
  if (!better) return answer;
  return { ...answer, body: better.body, status: better.status ?? answer.status, text: null };
}

type Lost = Exclude<Committed, { ok: true }>;
/**
 * `answer`: response of this commit, or of an earlier one with the same key; `lost`: outcome of a failed
 * commit.
 */
type Tried = { readonly answer: WrittenAnswer } | { readonly lost: Lost };

/**
 * Returns the id that concurrent writers most likely contend for: an order, a declared id, or an existing
 * object.
 */
function contendedOf({ changes }: ChangeSet): string | undefined {
  const order = changes.find((change) => change.order)?.order;
  const { contends } = changes.find((change) => change.contends !== undefined) ?? {};
  return order?.id ?? contends ?? changes.find(({ before }) => before !== null)?.id;
}

/** Returns the response with its JSON, and the guards that store it under the idempotency key in the same batch. */
function storeUnderKey(claim: KeyClaim, set: ChangeSet, planned: WrittenAnswer) {
  const stored = { ...planned, text: jsonOf(set.body) };
  return { stored, guards: claim.guards(stored, emittedObjects(set)) };
}

/** Returns the error for a write that was not committed after all attempts. */
function notCommitted(lost: Lost): Error {
  // A constraint that is still violated after planning again is a bug in the plan, not a lost race.
  if (lost.reason === 'constraint')
    return new Error(`The plan violates a database constraint: ${lost.message}`);
  return new ApiError('conflict', 'Concurrent writers keep changing this object. Read it again, then retry.');
}

function isNothing({ changes, ops }: ChangeSet): boolean {
  return changes.length === 0 && !ops;
}

/**
 * Returns the plan of a write. For a caller with narrowed scopes, it rejects changes of rows outside of them.
 */
function planOf(route: WriteRoute, { narrowed }: Context, input: CheckedInput, proposes: boolean): Plan {
  if (narrowed === null) return (now) => route.write(now, input);
  return async (now) => {
    const set = await route.write(now, input);
    requireRows(proposes ? readScopeOf(route.scope ?? '') : route.scope, now, set);
    return set;
  };
}

/** @param body body of the response; after a commit or a simulation, it differs from that of the change set */
type AnswerOf = (set: ChangeSet, body: unknown) => WrittenAnswer;

function createAnswerOf(route: WriteRoute): AnswerOf {
  const successStatus = successStatusOf(route);
  return (set, body) => {
    const status = set.status ?? (set.body === undefined ? 204 : successStatus);
    return {
      kind: 'written',
      status,
      body,
      text: null,
      version: body === undefined ? undefined : versionOf(set, body),
      location: set.location,
      isReplay: false,
    };
  };
}

function jsonOf(body: unknown): string | null {
  return body === undefined ? null : JSON.stringify(body);
}

function versionOf({ changes }: ChangeSet, body: unknown): number | undefined {
  const { id, version } = (body ?? {}) as { id?: string; version?: number };
  // The response to a creation may omit `version`; its `id` is that of the created object.
  return version ?? changes.find((change) => change.id === id)?.after.version;
}

/** Returns the objects for which a change set emits events, by id. */
function emittedObjects({ changes }: ChangeSet): ReadonlyMap<string, object> {
  return new Map(changes.filter(({ isSilent }) => !isSilent).map(({ id, after }) => [id, after]));
}

/**
 * Records the ids that names in a request body resolved to when it was planned. A request that is stored to be executed later, such as a
 * proposal, is stored with these ids, so that a later rename has no effect on it.
 */
interface ResolvedNames {
  note(this: void, path: string, value: unknown): void;
  withIds(input: CheckedInput): Readonly<Record<string, unknown>>;
}

function createResolvedNames(): ResolvedNames {
  /** Ids by path; undefined if one name resolved to several ids, such as a state in a bulk update of several teams. */
  const noted = new Map<string, unknown>();
  return {
    note(path, value) {
      const isSame = !noted.has(path) || isDeepStrictEqual(noted.get(path), value);
      noted.set(path, isSame ? value : undefined);
    },
    withIds(input) {
      if (noted.size === 0) return { ...input };
      const body: unknown = structuredClone(input.body);
      for (const [path, value] of noted) if (value !== undefined) putAt(body, path.split('.'), value);
      return { ...input, body };
    },
  };
}

function putAt(body: unknown, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (body === null || typeof body !== 'object' || !Object.hasOwn(body, name)) return;
  const at = body as Record<string, unknown>;
  if (rest.length === 0) at[name] = value;
  else putAt(at[name], rest, value);
}
