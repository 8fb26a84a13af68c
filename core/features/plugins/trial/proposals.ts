// Repeats the writes of proposals for their approval. If the underlying data has changed, the handler runs
// again on the same event.
import type { Change } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import { itemsForAdmins } from '../../inbox/index.ts';
import { proposal } from '../../proposals/contract.ts';
import { proposalModel, type ReplayOutcome, type Source, type Proposal } from '../../proposals/index.ts';
import { probationRuns } from '../installs/mode.ts';
import { installModel, type Install } from '../installs/model.ts';
import { findEvent } from '../../../kernel/events/log/log.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { effectTable } from '../../../kernel/rights/effects.ts';
import type { Scope } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import { sendsOutside } from '../installs/rights.ts';
import { inputNow, inputOf } from '../runs/job.ts';
import type { Attempts, TriedRun } from '../runs/attempt.ts';
import type { RunEffect } from '../runs/effects.ts';
import { findRun, type RunRow } from '../runs/rows.ts';
import { callerGone, createAskAsPlugin, divide } from './effects.ts';
import { uninterrupted } from './world.ts';

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
    const input = await inputNow(store, scope, run, deps.clock.nowMs());
    if (input === 'ended') return callerGone(inputOf(run)!.caller!.actor);
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
      const caller = (run && inputOf(run)?.caller) ?? undefined;
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
  const install = installId === null ? undefined : await installModel.find(ctx, installId);
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
    const install = installId === null ? undefined : await installModel.find(ctx, installId);
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
  const change = installModel.update(install, { probationLeft }, ctx.nowMs());
  return change ? [{ ...change, contends: install.id }] : [];
}

function endedNote({ id, manifest, pluginId }: Install) {
  return {
    kind: 'plugin_probation_ended' as const,
    reason: 'plugin' as const,
    title: `The plugin ${manifest.name ?? pluginId} is no longer on probation`,
    body: `The plugin now writes without approval, because people approved ${probationRuns} of its runs. To require approval again, run \`tatami plugin probation ${pluginId} --begin\`.`,
    target: { kind: installModel.name, id },
  };
}
