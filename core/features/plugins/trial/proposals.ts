// Applies the modes of a run to its writes: some are committed with the run, others wait in a proposal. An
// approval repeats the writes of a proposal, and if the underlying data has changed, also the run.
import type { Change } from '../../../kernel/changes/change.ts';
import type { RequestedWrite, Staging, StagedWrite } from '../../../kernel/changes/staging.ts';
import type { Context } from '../../../kernel/context.ts';
import type { Actor, Cause } from '../../../kernel/events/event.ts';
import { findEvent } from '../../../kernel/events/log/log.ts';
import { effectTable } from '../../../kernel/rights/effects.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { Op, Scope } from '../../../platform/store/store.ts';
import { itemsForAdmins } from '../../inbox/index.ts';
import { proposal } from '../../proposals/contract.ts';
import {
  askAll,
  createWriteReplay,
  makeProposal,
  proposalModel,
  type Proposal,
  type ReplayOutcome,
  type Source,
} from '../../proposals/index.ts';
import type { PluginDeps } from '../deps.ts';
import { ownWrites } from '../host-calls/bridge.ts';
import { CallError, principalOf } from '../host-calls/gateway.ts';
import type { InstallMode } from '../installs/contract.ts';
import { probationRuns, probationSentence } from '../installs/mode.ts';
import type { Install } from '../installs/model.ts';
import { changeOfInstall, findInstall, nounOf, targetOf } from '../installs/rules.ts';
import { sendsOutside } from '../installs/rights.ts';
import { ownValues, ValueError } from '../kv/own.ts';
import type { Attempts, LeasedRun, RunAttempt, TriedRun } from '../runs/attempt.ts';
import type { RunEffect } from '../runs/effects.ts';
import { callerNow, inputNow, inputOf, rightsFor, type Authorization, type RunCaller } from '../runs/job.ts';
import { findRun, proposedOp, type RunRow } from '../runs/rows.ts';
import { ownOneTimeJobs } from '../schedules/own.ts';
import { divide, isOfOneMode, type Divided } from './modes.ts';
import { uninterrupted } from './world.ts';

interface ModesOutcome {
  readonly changes: readonly Change[];
  readonly ops: readonly Op[];
  /** True if writes to the plugin's stored values are committed. */
  readonly ownValues: boolean;
  /** Changes by mode; null if all had the same mode. */
  readonly met: Readonly<Record<InstallMode, readonly Change[]>> | null;
}

export type ApplyModes = (leased: LeasedRun, tried: RunAttempt) => Promise<ModesOutcome>;

export function createApplyModes(deps: PluginDeps): ApplyModes {
  const askAs = createAskAsPlugin(deps);

  /** Repeats the writes in mode `apply` without the others. If that fails, they become pending as well. */
  const applied = async (tried: RunAttempt, leased: LeasedRun, { apply, propose, simulate }: Divided) => {
    if (apply.length === 0 || propose.length + simulate.length === 0)
      return { changes: apply.length === 0 ? [] : tried.staged.changes, isAlone: true };
    const { scope } = leased.item;
    const again = await askAs(
      { scope, install: tried.install, cause: tried.cause, caller: tried.caller },
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
const callerGone = ({ name }: Actor): ReplayOutcome => ({
  refusal: new ApiError(
    'forbidden',
    `${name}, the caller of this run, no longer has write access. Reject the proposal.`,
  ),
});

/** Refusal if the caller of a run, or the owner of its automation, lost the rights. */
const goneOf = (run: RunRow, refused: Authorization): ReplayOutcome =>
  refused === 'caller_gone'
    ? callerGone(inputOf(run)!.caller!.actor)
    : { refusal: new ApiError('forbidden', refused.ownerLost) };

type AskAsPlugin = (asking: Asking, writes: readonly RequestedWrite[]) => Promise<ReplayOutcome>;

function createAskAsPlugin({ clock, app, registry, services: { store } }: PluginDeps): AskAsPlugin {
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
      oneTimeJobs: ownOneTimeJobs({
        ...own,
        ...{ install, cause: cause ?? uncaused, caller, startedAt },
        findPlugin: (pluginId) => registry.activePlugin(scope, pluginId),
      }),
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

const hasApplied = ({ effects_json }: RunRow): boolean =>
  (JSON.parse(effects_json) as RunEffect[]).some(({ outcome }) => outcome === 'applied');

/**
 * Requires the scope for requests to other servers, because a decision on a proposal can repeat its run,
 * which sends requests with the secrets of the plugin.
 * @throws ApiError insufficient_scope
 */
function requireSending(ctx: Context, install: Install): void {
  const { scope } = effectTable['outside-requests'];
  if (ctx.simulates || !sendsOutside(install) || ctx.scopes.has(scope)) return;
  throw new ApiError(
    'insufficient_scope',
    `Updating the proposal needs another run of ${install.pluginId}, which can send requests to other servers. This requires the scope ${scope}. Ask someone who has it, or reject the proposal.`,
  );
}

/** @throws ApiError conflict in a simulation, whose run may have failed because an answer was not recorded */
function failed({ simulates }: Context): ReplayOutcome {
  if (!simulates) return refused('The repeated run of the plugin failed.');
  throw new ApiError(
    'conflict',
    'The repeated run of the plugin failed in this simulation, which sends no requests to other servers. Repeat the request without Tatami-Mode.',
  );
}

const refused = (why: string) => ({ refusal: new ApiError('conflict', why) });

export function createPluginSource(deps: PluginDeps, attempts: Attempts): Source {
  const { app, registry } = deps;
  const { store } = deps.services;
  const askAs = createAskAsPlugin(deps);
  const installOf = (scope: Scope, { installId }: Proposal): Promise<Install | undefined> =>
    registry.active(scope, installId ?? '');

  /** Repeated runs in progress, by proposal; an entry is removed when its run ends. */
  const underWay = new Map<string, Promise<ReplayOutcome>>();

  const runAgain = async (ctx: Context, proposal: Proposal): Promise<ReplayOutcome> => {
    const { scope } = ctx;
    const install = await installOf(scope, proposal);
    if (!install) return refused('The plugin of this proposal is no longer active.');
    const run = await findRun(store, scope, proposal.runId ?? '');
    if (!run) return refused('The run of this proposal is no longer stored.');
    const input = await inputNow(store, scope, run, { install, nowMs: deps.clock.nowMs() });
    if (input && 'refused' in input) return goneOf(run, input.refused);
    const event = run.event_id === null ? undefined : await findEvent(store, scope, run.event_id);
    const { signal } = new AbortController();
    const trying: TriedRun = { run, event, input, signal, item: { scope } };
    try {
      // A simulated run sends no requests; it gets the recorded answers to earlier ones.
      const mode = ctx.simulates ? 'simulate' : 'propose';
      const { outcome, staged } = await uninterrupted(signal, () =>
        attempts.make(trying, { ...install, mode }),
      );
      if (outcome.status !== 'succeeded') return failed(ctx);
      const { propose, simulate } = divide(install, staged.writes, app());
      // Writes that the original run applied are not repeated. If it applied none, all its writes were
      // pending because of probation or the budget, so writes that would be applied now are pending as well.
      const writes = hasApplied(run) ? propose : staged.writes.filter((write) => !simulate.includes(write));
      return { refusal: null, writes, changes: [], ops: [] };
    } finally {
      attempts.forget(run.id);
    }
  };

  return {
    async ask(ctx, proposal, writes) {
      const install = await installOf(ctx.scope, proposal);
      if (!install) return refused('The plugin of this proposal is no longer active.');
      const run = await findRun(store, ctx.scope, proposal.runId ?? '');
      const input = run && (await inputNow(store, ctx.scope, run, { install, nowMs: deps.clock.nowMs() }));
      if (input && 'refused' in input) return goneOf(run!, input.refused);
      const { caller } = input ?? {};
      const again = await askAs({ scope: ctx.scope, install, cause: proposal.cause, caller }, writes);
      if (again.refusal?.code === 'insufficient_scope')
        throw new ApiError(
          'conflict',
          `The plugin no longer has the required scope: ${again.refusal.message}`,
        );
      return again;
    },
    async anew(ctx, proposal) {
      const install = await installOf(ctx.scope, proposal);
      if (install) requireSending(ctx, install);
      // Concurrent requests for the same proposal share one run.
      const key = `${proposal.id}${ctx.simulates ? ' simulated' : ''}`;
      const known = underWay.get(key);
      if (known) return known;
      const running = runAgain(ctx, proposal).finally(() => underWay.delete(key));
      underWay.set(key, running);
      return running;
    },
    approved: (ctx, { installId }) => countApproval(ctx, installId),
  };
}

/**
 * Counts a run whose proposal a person approved completely. The last approval ends probation and notifies the
 * admins. The count is a change of the install with an event, so that the audit log names the approver.
 */
async function countApproval(ctx: Context, installId: string | null): Promise<readonly Change[]> {
  const install = installId === null ? undefined : await findInstall(ctx, installId);
  if (!install || install.probationLeft === 0) return [];
  const probationLeft = install.probationLeft - 1;
  const counted = countChange(ctx, install, probationLeft);
  if (probationLeft > 0) return counted;
  const { ids, directory } = ctx;
  return [...counted, ...itemsForAdmins(endedNote(install), { ids, directory, nowMs: ctx.nowMs() })];
}

/**
 * Removes approvals that an undo reverts from the count. A probation that has ended does not resume.
 * @param undone rows of stored changes, each with its install
 */
export async function takeApprovalsBack(
  ctx: Context,
  undone: readonly { readonly id: string; readonly install_id: string | null }[],
): Promise<readonly Change[]> {
  const isProposal = ({ id }: { readonly id: string }): boolean => id.startsWith(`${proposal.id}_`);
  const changes: Change[] = [];
  for (const [installId, rows] of Map.groupBy(undone.filter(isProposal), (row) => row.install_id)) {
    const install = installId === null ? undefined : await findInstall(ctx, installId);
    if (!install || install.probationLeft === 0) continue;
    const proposals = await proposalModel.findMany(
      ctx,
      rows.map(({ id }) => id),
    );
    const counted = proposals.filter(({ status }) => status === 'approved').length;
    changes.push(...countChange(ctx, install, Math.min(install.probationLeft + counted, probationRuns)));
  }
  return changes;
}

/** Concurrent approvals contend for the install, regardless of their other writes. */
function countChange(ctx: Context, install: Install, probationLeft: number): readonly Change[] {
  const changed = changeOfInstall(install, { probationLeft }, ctx.nowMs());
  return changed ? [{ ...changed.change, contends: install.id }] : [];
}

function endedNote(install: Install) {
  const { id, manifest, pluginId, rule } = install;
  const noun = nounOf(install);
  return {
    kind: 'plugin_probation_ended' as const,
    reason: 'plugin' as const,
    title: `The ${noun} ${manifest.name ?? pluginId} is no longer on probation`,
    body: `The ${noun} now writes without approval, because people approved ${probationRuns} of its runs. To require approval again, run \`tatami ${noun}s update ${rule ? id : pluginId} --probation\`.`,
    target: targetOf(install),
  };
}
