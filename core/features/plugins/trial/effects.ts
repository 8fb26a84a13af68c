// Divides the writes of a run by mode: committed with the run, pending approval, or simulated and dropped.
// docs/decisions/0059.
import type { RequestedWrite, Staging, StagedWrite } from '../../../kernel/changes/staging.ts';
import type { Actor, Cause } from '../../../kernel/events/event.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import {
  askAll,
  createWriteReplay,
  type ReplayOutcome,
  makeProposal,
  classOf,
} from '../../proposals/index.ts';
import type { Scope, Op } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import { CallError, principalOf } from '../host-calls/gateway.ts';
import type { Install } from '../installs/model.ts';
import { ownValues, ValueError } from '../kv/own.ts';
import { ownOneTimeJobs } from '../schedules/own.ts';
import { ownWrites } from '../host-calls/bridge.ts';
import { callerNow, rightsFor, type RunCaller, inputOf } from '../runs/job.ts';
import type { Change } from '../../../kernel/changes/change.ts';
import type { App } from '../../../kernel/http/app.ts';
import type { InstallMode } from '../installs/contract.ts';
import { probationSentence } from '../installs/mode.ts';
import type { RunAttempt, LeasedRun } from '../runs/attempt.ts';
import { effectOf } from '../runs/effects.ts';
import { proposedOp } from '../runs/rows.ts';
import { modeFieldsOf, fieldModesOf, apiFieldsOf, strictest, type ModeFields } from './mode-fields.ts';
import { makes, type Route } from '../../../kernel/http/route.ts';
import type { EffectClass } from '../../proposals/contract.ts';

interface ModesOutcome {
  readonly changes: readonly Change[];
  readonly ops: readonly Op[];
  /** True if writes to the plugin's stored values are committed. */
  readonly ownValues: boolean;
  /** Changes by mode; null if all had the same mode. */
  readonly met: Readonly<Record<InstallMode, readonly Change[]>> | null;
}

export type ApplyModes = (leased: LeasedRun, tried: RunAttempt) => Promise<ModesOutcome>;

/** Writes by mode, each list in call order. */
type Divided = Readonly<Record<InstallMode, readonly StagedWrite[]>>;

/** True for a write that deletes something. Deletions need approval unless the install's modes say otherwise. */
function isDeletion({ operation, changes }: StagedWrite): boolean {
  return operation.endsWith('.delete') || changes.some((change) => classOf(change) === 'delete');
}

/**
 * @param route API route of the write; own calls have none
 * @param known fields that can have a mode
 */
function modeOfWrite(
  { mode, modes }: Install,
  write: StagedWrite,
  route: Route,
  known: ModeFields,
): InstallMode {
  const of = (name: EffectClass): InstallMode => modes[name] ?? mode;
  if (isDeletion(write)) return modes.delete ?? (mode === 'apply' ? 'propose' : mode);
  const byField = fieldModesOf(modes, known);
  // The mode of a field applies to every write that changes the field: moving a card on a board changes the
  // state of its issue.
  const moved = byField.size === 0 ? [] : movedFields(write).flatMap((field) => byField.get(field) ?? []);
  const byClass = (name: EffectClass): InstallMode => strictest([of(name), ...moved]);
  if (route.name.startsWith('comments.')) return byClass('comment');
  if (makes(route)) return byClass('create');
  const fields = apiFieldsOf(route, write.input.body);
  if (fields.length === 0) return byClass('update');
  return strictest([...fields.map((field) => byField.get(field) ?? of('update')), ...moved]);
}

/** Returns the changed fields of existing objects, by their API names. */
function movedFields({ changes }: StagedWrite): string[] {
  const isOld = ({ before, isSilent, kind }: Change): boolean =>
    before !== null && !isSilent && kind !== 'comment';
  return changes.filter(isOld).flatMap((change) => effectOf(change).fields);
}

/** True if all writes certainly have the same mode and need not be divided, as in most runs. */
function isOfOneMode({ mode, modes }: Install, writes: readonly StagedWrite[]): boolean {
  return (
    Object.keys(modes).length === 0 && mode !== 'propose' && !(mode === 'apply' && writes.some(isDeletion))
  );
}

/** Divides writes by mode. A write gets the mode of those that it builds on, if that is stricter. */
export function divide(install: Install, writes: readonly StagedWrite[], app: App): Divided {
  const own = writes.filter(({ operation }) => ownWrites.has(operation));
  const fields = modeFieldsOf(app.routes);
  const divided: Record<InstallMode, StagedWrite[]> = { apply: [], propose: [], simulate: [] };
  for (const write of writes) {
    if (own.includes(write)) continue;
    const mode = modeOfWrite(install, write, app.route(write.operation), fields);
    divided[worst(mode, write, divided)].push(write);
  }
  // Stored values record the actions of the plugin, so they get the mode of its other writes.
  const withOwn = ownModeOf(install, divided);
  const selected = new Set([...divided[withOwn], ...own]);
  return { ...divided, [withOwn]: writes.filter((write) => selected.has(write)) };
}

function ownModeOf({ mode }: Install, divided: Divided): InstallMode {
  if (divided.apply.length > 0) return 'apply';
  if (divided.propose.length > 0) return 'propose';
  return divided.simulate.length > 0 || mode === 'simulate' ? 'simulate' : 'apply';
}

/** Returns the strictest mode among this write and the writes that it builds on. */
function worst(mode: InstallMode, write: StagedWrite, { propose, simulate }: Divided): InstallMode {
  if (simulate.some((earlier) => buildsOn(write, earlier))) return 'simulate';
  return mode === 'apply' && propose.some((earlier) => buildsOn(write, earlier)) ? 'propose' : mode;
}

/** True if a write refers to an object that an earlier one creates, or changes the same field of the same object. */
function buildsOn(write: StagedWrite, earlier: StagedWrite): boolean {
  const text = JSON.stringify(write.input);
  return earlier.changes.some(
    (change) =>
      (change.before === null && text.includes(`"${change.id}"`)) ||
      write.changes.some((later) => later.id === change.id && movesSame(change, later)),
  );
}

function movesSame(a: Change, b: Change): boolean {
  const fields = new Set(effectOf(a).fields);
  return effectOf(b).fields.some((field) => fields.has(field));
}

export function createApplyModes(deps: PluginDeps): ApplyModes {
  const askAs = createAskAsPlugin(deps);

  /** Repeats the writes in mode `apply` without the others. If that fails, they become pending as well. */
  const applied = async (tried: RunAttempt, leased: LeasedRun, { apply, propose, simulate }: Divided) => {
    if (apply.length === 0 || propose.length + simulate.length === 0)
      return { changes: apply.length === 0 ? [] : tried.staged.changes, isAlone: true };
    const { scope } = leased.item;
    const again = await askAs(
      { scope, install: tried.install, cause: tried.cause, caller: inputOf(leased.run)?.caller },
      apply,
    );
    return again.refusal ? { changes: [], isAlone: false } : { changes: again.changes, isAlone: true };
  };

  return async (leased, tried) => {
    const { staged } = tried;
    const install = { ...tried.install, ...tried.modes };
    if (isOfOneMode(install, staged.writes)) {
      const applies = install.mode === 'apply';
      return { changes: applies ? staged.changes : [], ops: [], ownValues: applies, met: null };
    }
    const divided = divide(install, staged.writes, deps.app());
    const { changes, isAlone } = await applied(tried, leased, divided);
    const waiting = isAlone
      ? divided.propose
      : staged.writes.filter((write) => !divided.simulate.includes(write));
    const proposed = await propose(deps, leased, tried, waiting);
    const isApplied = isAlone && divided.apply.length > 0;
    return {
      changes: [...changes, ...proposed.changes],
      ops: proposed.ops,
      ownValues: isApplied || staged.writes.length === 0,
      met: { apply: changes, propose: changesOf(waiting), simulate: changesOf(divided.simulate) },
    };
  };
}

const changesOf = (writes: readonly StagedWrite[]): Change[] => writes.flatMap(({ changes }) => changes);

/** Returns the changes and ops of a proposal, for the batch that ends the run. */
async function propose(
  { clock, committer, directoryOf, services: { ids, sealing } }: PluginDeps,
  { item: { scope }, run }: LeasedRun,
  { install, cause, startedAt }: RunAttempt,
  writes: readonly StagedWrite[],
): Promise<{ readonly changes: readonly Change[]; readonly ops: readonly Op[] }> {
  if (writes.length === 0) return { changes: [], ops: [] };
  const { workspaceId } = scope;
  const nowMs = clock.nowMs();
  const making = { ids, sealing, workspaceId, directory: await directoryOf(scope), nowMs };
  const created = makeProposal(
    {
      committer,
      cause,
      writes,
      actor: { kind: 'plugin', id: install.id, name: install.manifest.name ?? install.pluginId },
      planned: { since: startedAt, until: nowMs },
      run: { id: run.id, installId: install.id },
      note: install.probationLeft > 0 ? probationSentence(install) : undefined,
    },
    making,
  );
  if (!created) return { changes: [], ops: [] };
  return {
    changes: [created.proposal, ...created.items],
    ops: [proposedOp(scope, run.id, created.proposal.id)],
  };
}

interface Asking {
  readonly scope: Scope;
  readonly install: Install;
  readonly cause: Cause | null;
  /** Caller of the run, whose rights limit the writes. */
  readonly caller: RunCaller | undefined;
}

const uncaused: Cause = { rootEventId: null, parentRunId: null, depth: 0, path: [] };

/** Refusal if the caller's credential is no longer valid. */
export const callerGone = ({ name }: Actor): ReplayOutcome => ({
  refusal: new ApiError(
    'forbidden',
    `${name}, the caller of this run, no longer has write access. Reject the proposal.`,
  ),
});

type AskAsPlugin = (asking: Asking, writes: readonly RequestedWrite[]) => Promise<ReplayOutcome>;

export function createAskAsPlugin({ clock, app, services: { store } }: PluginDeps): AskAsPlugin {
  const replayWrite = createWriteReplay(app);

  const askOwn = async (
    { scope, install, cause, caller }: Asking,
    { operation, input }: RequestedWrite,
    staged: Staging,
  ) => {
    const startedAt = clock.nowMs();
    const own = { store, nowMs: clock.nowMs, scope, staged };
    const calls = {
      values: ownValues({ ...own, installId: install.id }),
      oneTimeJobs: ownOneTimeJobs({ ...own, install, cause: cause ?? uncaused, caller, startedAt }),
    };
    const before = staged.writes.length;
    try {
      await ownWrites.get(operation)!.answer(calls, input.args as readonly unknown[]);
    } catch (error) {
      if (error instanceof CallError || error instanceof ValueError)
        return new ApiError('conflict', error.message);
      throw error;
    }
    // A failed comparison stages nothing, although it succeeded in the original run.
    return operation === 'kv.compareAndSet' && staged.writes.length === before
      ? new ApiError('conflict', 'A stored value of the plugin has changed since the proposal was made.')
      : null;
  };

  return async (recorded, writes) => {
    const { scope, caller: asker } = recorded;
    const caller = asker && (await callerNow(store, scope, asker, clock.nowMs()));
    if (caller === null) return callerGone(asker!.actor);
    const asking = { ...recorded, caller };
    return askAll(asking.scope.workspaceId, asking.install.id, writes, async (write, staged) => {
      if (ownWrites.has(write.operation)) return askOwn(asking, write, staged);
      const { cause, install } = asking;
      const plugin = principalOf(scope, install);
      return replayWrite(write, { principal: { ...plugin, ...rightsFor(plugin, caller) }, cause, staged });
    });
  };
}
