// Asks writes of a run again as the plugin, by its grant of now: those of the API at the door, its own past it.
import type { AskedWrite, Staging } from '../../changes/staging.ts';
import type { Cause } from '../../events/origin.ts';
import type { App, Caller } from '../../http/app.ts';
import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import { askAll, type AskedAgain, type RecordedInput } from '../../proposals/again.ts';
import type { Scope, Store } from '../../store/store.ts';
import { CallError } from '../door-call.ts';
import { hostDoorOf, principalOf, type HostDoor } from '../host-door.ts';
import type { Install } from '../installs/schema.ts';
import { ownValues, ValueError } from '../kv/own.ts';
import { ownCalls } from '../own-calls.ts';

export interface AskOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly app: () => App;
}

interface Asking {
  readonly scope: Scope;
  readonly install: Install;
  readonly cause: Cause | null;
}

export type AskAsPlugin = (asking: Asking, writes: readonly AskedWrite[]) => Promise<AskedAgain>;

export function createAskAsPlugin({ store, clock, app }: AskOptions): AskAsPlugin {
  let door: HostDoor | undefined;
  let call: Caller<null> | undefined;

  const askOwn = async (
    { scope, install, cause }: Asking,
    { operation, input }: AskedWrite,
    staged: Staging,
  ) => {
    const values = ownValues({ store, nowMs: clock.nowMs, scope, installId: install.id, staged });
    const bridge = {
      door: (door ??= hostDoorOf(app())),
      principal: principalOf(scope, install),
      installId: install.id,
      ...{ staged, values, traceparent: null },
      cause: cause ?? { rootEventId: null, parentRunId: null, depth: 0, path: [] },
    };
    const before = staged.writes.length;
    try {
      await ownCalls.get(operation)!.answer(bridge, input.args as readonly unknown[]);
    } catch (error) {
      if (error instanceof CallError || error instanceof ValueError)
        return new ApiError('conflict', error.message);
      throw error;
    }
    // A comparison that no longer holds wrote nothing, and the handler believes that it did.
    return operation === 'kv.compareAndSet' && staged.writes.length === before
      ? new ApiError('conflict', 'A value of the plugin has changed.')
      : null;
  };

  return (asking, writes) =>
    askAll(asking.scope.workspaceId, asking.install.id, writes, async (write, staged) => {
      if (ownCalls.has(write.operation)) return askOwn(asking, write, staged);
      call ??= app().caller(() => ({ taken: null, bytes: 0 }));
      const { params = {}, query = {}, body, ifMatch = null } = write.input as RecordedInput;
      const given = body === undefined ? {} : { body };
      const { cause, install, scope } = asking;
      const { error } = await call(app().route(write.operation), {
        ...{ principal: principalOf(scope, install), params, query, ...given, ifMatch, cause, staged },
        ids: write.ids,
        isCounted: false,
      });
      return error;
    });
}
