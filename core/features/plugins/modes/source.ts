// Repeats the writes of proposals for their approval. If the underlying data has changed, the handler runs again on the same event.
import { findEvent } from '../../../kernel/events/log/log.ts';
import type { Context } from '../../../kernel/context.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { ReplayOutcome, Source, Proposal } from '../../proposals/index.ts';
import { effectTable } from '../../../kernel/rights/effects.ts';
import type { Scope } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import { countApproval } from '../installs/probation.ts';
import { sendsOutside } from '../installs/rights.ts';
import type { Install } from '../installs/schema.ts';
import { inputNow, inputOf } from '../runs/attempt/input.ts';
import type { Attempts, TriedRun } from '../runs/attempt/attempt.ts';
import type { RunEffect } from '../runs/effects.ts';
import { findRun, type RunRow } from '../runs/rows.ts';
import { callerGone, createAskAsPlugin } from './ask.ts';
import { divide } from './apply-modes.ts';

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
      const { outcome, staged } = await attempts.make(trying, { ...install, mode });
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
