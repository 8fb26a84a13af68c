// Builds the sandbox job of a run: code, limits and the input of the handler.
import { type Cause, renderEvent, type EventRow } from '../../../kernel/events/event.ts';
import { authorityGuards, rightsNow, roleGuard } from '../../me/index.ts';
import { membershipOf } from '../../people/index.ts';
import { expandScopes } from '../../../kernel/rights/table.ts';
import {
  type Authority,
  type Authorized,
  commonRights,
  type Narrowing,
  type Rights,
} from '../../../kernel/rights/rights.ts';
import { type Op, type Scope, type Store, tenantOp } from '../../../platform/store/store.ts';
import type { NewRun, RunRow } from './rows.ts';
import { queueRunOps } from './state.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import { type Ids, idPrefixes } from '../../../platform/lib/ids.ts';
import type { GuestProgress } from '../../../platform/sandbox/supervisor.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { redactEvent } from '../../../kernel/rights/effects.ts';
import { cutDescriptions } from '../host-calls/gateway.ts';
import { traitsOf, limitsOf } from '../planning/limits.ts';
import type { InstallMode } from '../installs/contract.ts';
import { rightsOfInstall } from '../installs/manifest.ts';
import type { Install } from '../installs/model.ts';
import { isolateOf } from '../installs/rules.ts';
import { effectiveSettings } from '../installs/settings.ts';
import { stepOf } from '../planning/loops.ts';
import { stepName } from '../schedules/schedules.ts';
import type { SecretsForGuest } from '../http-out/rules.ts';
import type { TriedRun } from './attempt.ts';
import type { Subject } from './subject.ts';

const partitionsDefault = 1;

interface RunJobInput {
  readonly source: string;
  readonly startedAt: number;
  readonly mode: InstallMode;
  readonly secrets: SecretsForGuest | undefined;
  readonly subject: Subject;
}

export function jobOf(leased: TriedRun, install: Install, input: RunJobInput) {
  const { item, run, signal, world } = leased;
  const handler = handlerOf(run);
  const limits = limitsOf(install.manifest, handler);
  const partitions = install.manifest.partitions ?? partitionsDefault;
  return {
    runId: run.id,
    workspaceId: item.scope.workspaceId,
    // A trial uses separate isolates.
    installId: world?.isolateId ?? isolateOf(install),
    partition: partitions === 1 ? 0 : Number(Bun.hash(run.order_key) % BigInt(partitions)),
    code: { sha256: install.sha256, source: input.source, handlers: [...install.manifest.handlers] },
    handler,
    input: inputTextOf(leased, install, { ...input, deadline: input.startedAt + limits.wallMs }),
    limits,
    fresh: traitsOf[handler.kind].isFresh,
    signal,
  };
}

function inputTextOf(
  { run, event, input }: TriedRun,
  install: Install,
  { startedAt, deadline, mode, secrets, subject }: RunJobInput & { readonly deadline: number },
): string {
  return JSON.stringify({
    event: event
      ? { ...cutDescriptions(renderedFor(install, event)), ...subject }
      : (input?.event ?? { schedule: run.handler, scheduledAt: new Date(firedAtOf(run)).toISOString() }),
    run: {
      id: run.id,
      attempt: run.attempt + 1,
      mode,
      depth: run.depth,
      rootEventId: run.root_event_id,
      deadline,
    },
    settings: effectiveSettings(install),
    nowMs: startedAt,
    seed: run.id,
    scopes: scopesOf(install, input?.caller),
    secrets,
  });
}

/** Returns the event, redacted to what the plugin can read. */
function renderedFor(install: Install, event: EventRow): object {
  return redactEvent(rightsOfInstall(install), renderEvent(event));
}

/** Returns the scopes for `ctx.has`: the granted ones, limited to those of the caller. */
function scopesOf(install: Install, caller: RunCaller | undefined): readonly string[] {
  if (!caller) return install.grant;
  const { scopes, narrowed } = rightsFor(rightsOfInstall(install), caller);
  return [...scopes, ...(narrowed?.keys() ?? [])];
}

export function handlerOf(run: RunRow) {
  return { kind: run.handler_kind, name: run.handler };
}

export function causeOf({ run, event, input }: TriedRun, install: Install): Cause {
  const { actor } = input?.caller ?? {};
  return {
    rootEventId: run.root_event_id,
    parentRunId: run.id,
    depth: run.depth + 1,
    path: event ? [...event.cause.path, stepOf(install.id, event)] : pathOf(run, install, input),
    ...(actor ? { onBehalfOf: actor } : {}),
  };
}

/** Returns the causation path of a run that no event triggered. */
function pathOf(run: RunRow, { id }: Install, input: RunInput | null | undefined): readonly string[] {
  if (!input?.cause) return [id];
  return [...input.cause.path, stepOf(id, { subjectId: null, entityId: stepName(run.handler) })];
}

/** The caller of a run, with the rights at the time of the call. */
export interface RunCaller extends Authority {
  readonly scopes: readonly string[];
  readonly narrowed: readonly (readonly [scope: string, narrowing: Narrowing])[] | null;
  /** Owner of the automation that runs, with the role at the start of the run. */
  readonly owner?: { readonly id: string; readonly role: string } | undefined;
}

/**
 * Input of a run that no event triggered. It is stored in the row of the run, so that all attempts get the
 * same input.
 */
export interface RunInput {
  /** Argument of the handler; absent for a run of an event or of a schedule. */
  readonly event?: Readonly<Record<string, unknown>> | undefined;
  /** Set for a one-time job: the cause of the run that scheduled it. */
  readonly cause?: Cause;
  readonly caller?: RunCaller;
}

export function inputOf({ input_json: text }: RunRow): RunInput | null {
  return text === null ? null : (JSON.parse(text) as RunInput);
}

export function callerOf({ authority, scopes, narrowed }: Rights & Authorized): RunCaller {
  return { ...authority, scopes: [...scopes], narrowed: narrowed && [...narrowed] };
}

/** Returns the rights that plugin and caller have in common; those of the plugin if there is no caller. */
export function rightsFor(granted: Rights, caller: RunCaller | undefined): Rights {
  if (!caller) return granted;
  return commonRights(granted, rightsOfCaller(caller));
}

/** Returns the caller with its remaining rights; null if its credential is no longer valid. */
export async function callerNow(
  store: Store,
  scope: Scope,
  caller: RunCaller,
  nowMs: number,
): Promise<RunCaller | null> {
  const left = await rightsNow(store, scope, { ...caller, rights: rightsOfCaller(caller) }, nowMs);
  return left && callerOf({ authority: authorityOf(caller), ...left });
}

/** Reasons why a run must not start: its caller or the owner of its automation lost the rights. */
export type Authorization = 'caller_gone' | { readonly ownerLost: string };

/**
 * Returns the input of a run with the remaining rights of its caller. A run of an automation acts for the owner
 * as well, with the rights that both have.
 */
export async function inputNow(
  store: Store,
  scope: Scope,
  run: RunRow,
  { install, nowMs }: { readonly install: Install; readonly nowMs: number },
): Promise<RunInput | null | { readonly refused: Authorization }> {
  const input = inputOf(run);
  const caller = input?.caller && (await callerNow(store, scope, input.caller, nowMs));
  if (caller === null) return { refused: 'caller_gone' };
  if (!install.rule) return input && { ...input, ...(caller && { caller }) };
  const owner = await ownerNow(store, scope, install);
  if ('ownerLost' in owner) return { refused: owner };
  if (!caller) return { ...input, caller: owner };
  return { ...input, caller: { ...caller, ...rightsOfBoth(caller, owner), owner: owner.owner } };
}

const rightsOfBoth = (caller: RunCaller, owner: RunCaller) => {
  const { scopes, narrowed } = commonRights(rightsOfCaller(caller), rightsOfCaller(owner));
  return { scopes: [...scopes], narrowed: narrowed && [...narrowed] };
};

/** Returns the owner of an automation with the present rights, or why the automation must not act for them. */
async function ownerNow(
  store: Store,
  scope: Scope,
  { rule, grant }: Install,
): Promise<RunCaller | { readonly ownerLost: string }> {
  const ownerId = rule?.ownerId ?? null;
  const membership = ownerId === null ? null : await membershipOf(store, scope, ownerId);
  if (ownerId === null || !membership)
    return {
      ownerLost: 'The owner is no longer a member. Choose another owner, then enable the automation.',
    };
  const { name, role, rights } = membership;
  const missing = [...expandScopes(grant)].find((one) => !rights.scopes.has(one));
  if (missing !== undefined)
    return {
      ownerLost: `The owner ${name} no longer has the scope ${missing}. Choose another owner, then enable the automation.`,
    };
  const actor = { kind: 'user', id: ownerId, memberId: ownerId, name } as const;
  return { ...callerOf({ authority: { actor }, ...rights }), owner: { id: ownerId, role } };
}

/** Guards the commit of a run that acts for somebody: the credential must still be valid. */
export function callerGuards(scope: Scope, caller: RunCaller | undefined, nowMs: number): Op[] {
  if (!caller) return [];
  const ofOwner = caller.owner ? [roleGuard(scope, caller.owner)] : [];
  return [...authorityGuards(scope, caller, nowMs), ...ofOwner];
}

function authorityOf({ actor, grantId }: RunCaller): Authority {
  return grantId === undefined ? { actor } : { actor, grantId };
}

function rightsOfCaller({ scopes, narrowed }: RunCaller): Rights {
  return { scopes: new Set(scopes), narrowed: narrowed && new Map(narrowed) };
}

const runsPerFiringMax = 200;

const setProgress = tenantStatement(
  'runs.progress',
  'UPDATE runs SET progress_json = :progress, continued_by = :next WHERE workspace_id = :ws AND id = :id',
);
const setContinuation = tenantStatement(
  'runs.continuation',
  `UPDATE runs SET progress_json = :progress, continuation = :continuation, fired_at = :firedAt
   WHERE workspace_id = :ws AND id = :id`,
);

/** `goesOn` is false if the schedule is done; `stuck` is the error message if it makes no progress. */
type ContinuationState = { readonly goesOn: boolean } | { readonly stuck: string };

export function continuationStateOf(run: RunRow, progress: GuestProgress | undefined): ContinuationState {
  if (!progress || progress.done >= progress.of) return { goesOn: false };
  const before = run.continuation === 0 ? undefined : progressOf(run);
  if (before && progress.done <= before.done)
    return {
      stuck: `The schedule made no progress: it is at ${progress.done} of ${progress.of}, no further than the previous run. Return a greater \`done\`.`,
    };
  if (run.continuation + 1 >= runsPerFiringMax)
    return {
      stuck: `The schedule is not done after ${runsPerFiringMax} runs in a row. Process more units per run.`,
    };
  return { goesOn: true };
}

/**
 * Returns the ops that queue the next run. They must follow the op that ends `run`, else the next run would
 * wait for it.
 */
export function continueOps(
  input: { queue: WorkQueue; scope: Scope; ids: Ids; run: RunRow; progress: GuestProgress },
  nowMs: number,
): readonly Op[] {
  const { queue, scope, ids, run, progress } = input;
  const next: NewRun = {
    id: ids.next(idPrefixes.run),
    installId: run.install_id,
    handler: { kind: run.handler_kind, name: run.handler },
    orderKey: run.order_key,
    sequence: Math.max(nowMs, run.sequence + 1),
    eventId: null,
    rootEventId: null,
    depth: run.depth,
    mode: run.mode,
    inputJson: run.input_json,
  };
  const text = JSON.stringify(progress);
  const mark = { id: next.id, progress: text, continuation: run.continuation + 1, firedAt: firedAtOf(run) };
  return [
    tenantOp(scope, setProgress, { id: run.id, progress: text, next: next.id }),
    ...queueRunOps(queue, scope, next, nowMs),
    tenantOp(scope, setContinuation, mark),
  ];
}

export function progressOp(scope: Scope, runId: string, progress: GuestProgress): Op {
  return tenantOp(scope, setProgress, { id: runId, progress: JSON.stringify(progress), next: null });
}

export function progressOf(run: RunRow): GuestProgress | null {
  return run.progress_json === null ? null : (JSON.parse(run.progress_json) as GuestProgress);
}

/** Returns the time at which the schedule was due, the same for all runs of one firing. */
function firedAtOf(run: RunRow): number {
  return run.fired_at ?? run.created_at;
}
