// What plugins proposed, as approvals ask it again; where its ground has moved, the handler is run again for the same event.
import { findEvent } from '../../events/log.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import type { AskedAgain, Source } from '../../proposals/again.ts';
import type { Proposal } from '../../proposals/kind.ts';
import { effectTable } from '../../rights/effects.ts';
import type { Scope } from '../../store/store.ts';
import { countApproval } from '../installs/probation.ts';
import { sendsOutside } from '../installs/rights.ts';
import type { Install } from '../installs/schema.ts';
import type { Registry } from '../registry.ts';
import { inputNow, inputOf } from '../runs/input.ts';
import type { Attempts, TriedRun } from '../runs/attempt.ts';
import type { Effect } from '../runs/effects.ts';
import { findRun, type RunRow } from '../runs/rows.ts';
import { callerGone, createAskAsPlugin, type AskOptions } from './ask.ts';
import { divide } from './hold-back.ts';

export interface SourceOptions extends AskOptions {
  readonly registry: Pick<Registry, 'active'>;
  readonly attempts: Attempts;
}

const hasApplied = ({ effects_json }: RunRow): boolean =>
  (JSON.parse(effects_json) as Effect[]).some(({ outcome }) => outcome === 'applied');

/**
 * A run that is repeated sends its requests, with the secrets of the plugin, because somebody decides on its proposal.
 * @throws ApiError insufficient_scope
 */
function requireSending(ctx: Context, install: Install): void {
  const { scope } = effectTable['outside-requests'];
  if (ctx.simulates || !sendsOutside(install) || ctx.scopes.has(scope)) return;
  throw new ApiError(
    'insufficient_scope',
    `What the proposal would do now is worked out by another run of ${install.pluginId}, which may send requests to other servers: that takes the scope ${scope}. Ask somebody who holds it, or reject the proposal.`,
  );
}

/** @throws ApiError conflict of a simulation, in which the run may have missed an answer */
function failed({ simulates }: Context): AskedAgain {
  if (!simulates) return refused('The plugin was run again for it, and failed.');
  throw new ApiError(
    'conflict',
    'The plugin was run again for this simulation, without its requests to other servers, and failed. Leave Tatami-Mode out.',
  );
}

const refused = (why: string) => ({ refusal: new ApiError('conflict', why) });

export function createPluginSource(options: SourceOptions): Source {
  const { store, app, attempts, registry } = options;
  const askAs = createAskAsPlugin(options);
  const installOf = (scope: Scope, { installId }: Proposal): Promise<Install | undefined> =>
    registry.active(scope, installId ?? '');

  /** By proposal; each goes with the request that waits for it. */
  const underWay = new Map<string, Promise<AskedAgain>>();

  const runAgain = async (ctx: Context, proposal: Proposal): Promise<AskedAgain> => {
    const { scope } = ctx;
    const install = await installOf(scope, proposal);
    if (!install) return refused('The plugin that proposed it is not active any more.');
    const run = await findRun(store, scope, proposal.runId ?? '');
    if (!run) return refused('The run that proposed it is no longer kept.');
    const input = await inputNow(store, scope, run, options.clock.nowMs());
    if (input === 'ended') return callerGone(inputOf(run)!.caller!.actor);
    const event = run.event_id === null ? undefined : await findEvent(store, scope, run.event_id);
    const { signal } = new AbortController();
    const trying: TriedRun = { run, event, input, signal, item: { scope } };
    try {
      // A run that simulates sends nothing to other servers: it has the answers to the requests that were sent before.
      const mode = ctx.simulates ? 'simulate' : 'propose';
      const { outcome, staged } = await attempts.make(trying, { ...install, mode });
      if (outcome.status !== 'succeeded') return failed(ctx);
      const { propose, simulate } = divide(install, staged.writes, app());
      // What was applied with the run is done. Where nothing was, all of it waited: what is applied by now waited as well, on probation
      // or for its budget.
      const writes = hasApplied(run) ? propose : staged.writes.filter((write) => !simulate.includes(write));
      return { refusal: null, writes, changes: [], ops: [] };
    } finally {
      attempts.forget(run.id);
    }
  };

  return {
    async ask(ctx, proposal, writes) {
      const install = await installOf(ctx.scope, proposal);
      if (!install) return refused('The plugin that proposed it is not active any more.');
      const run = await findRun(store, ctx.scope, proposal.runId ?? '');
      const caller = (run && inputOf(run)?.caller) ?? undefined;
      const again = await askAs({ scope: ctx.scope, install, cause: proposal.cause, caller }, writes);
      if (again.refusal?.code === 'insufficient_scope')
        throw new ApiError('conflict', `The plugin is not granted this any more: ${again.refusal.message}`);
      return again;
    },
    async anew(ctx, proposal) {
      const install = await installOf(ctx.scope, proposal);
      if (install) requireSending(ctx, install);
      // Two who look at once are shown one run.
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
