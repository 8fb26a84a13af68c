// Repeats the writes of a run as the plugin, with its present grant. API writes are requests to the API; own
// calls are executed directly.
import type { RequestedWrite, Staging } from '../../../kernel/changes/staging.ts';
import type { Actor, Cause } from '../../../kernel/events/event.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { askAll, createWriteReplay, type ReplayOutcome } from '../../proposals/index.ts';
import type { Scope } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import { CallError } from '../host-calls/gateway-call.ts';
import { principalOf } from '../host-calls/host-gateway.ts';
import type { Install } from '../installs/schema.ts';
import { ownValues, ValueError } from '../kv/own.ts';
import { ownOneTimeJobs } from '../one-time-jobs/own.ts';
import { ownWrites } from '../host-calls/own-calls.ts';
import { callerNow, rightsFor, type RunCaller } from '../runs/attempt/input.ts';

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

export type AskAsPlugin = (asking: Asking, writes: readonly RequestedWrite[]) => Promise<ReplayOutcome>;

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
