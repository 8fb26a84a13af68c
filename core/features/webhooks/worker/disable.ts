// Disables an endpoint because of its receiver's responses, in the batch that records them. Spec:
// docs/spec/webhooks.md › Disabling.
import type { Change } from '../../../kernel/changes/change.ts';
import { systemAuthor, type Committer } from '../../../kernel/changes/commit.ts';
import type { Directory } from '../../../kernel/context.ts';
import { itemsForAdmins } from '../../inbox/index.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Ids } from '../../../platform/lib/ids.ts';
import type { Log } from '../../../platform/lib/log.ts';
import type { Op, Scope, Store } from '../../../platform/store/store.ts';
import { displayAddress } from '../endpoints/address.ts';
import { endpointModel, type Endpoint } from '../endpoints/model.ts';
import type { Subscriptions } from '../subscriptions.ts';

/** Attempts to plan the change when others change the endpoint concurrently. */
const plansMax = 5;

export interface DisableEndpoint {
  /**
   * Commits ops, the first of which guards the batch, and disables the endpoint in the same batch. If it is already
   * disabled, only the ops are committed.
   */
  (scope: Scope, endpointId: string, reason: string, ops: readonly Op[]): Promise<{ readonly ok: boolean }>;
}

export function createDisable(options: {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Log;
  committer: Committer;
  subscriptions: Subscriptions;
  directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}): DisableEndpoint {
  return async (scope, endpointId, reason, ops) => {
    const [fence, rest] = [ops.slice(0, 1), ops.slice(1)];
    for (let plans = 0; plans < plansMax; plans++) {
      const endpoint = await options.subscriptions.enabled(scope, endpointId);
      const patch = { enabled: false, disabledReason: reason };
      const change = endpoint && endpointModel.update(endpoint, patch, options.clock.nowMs());
      if (!change) break;
      const directory = await options.directoryOf(scope);
      const author = systemAuthor(scope, 'webhooks', directory);
      const changes = [change, ...itemsOf(change.after, directory, options)];
      const committed = await options.committer.commit(author, changes, fence, rest);
      if (committed.ok) {
        options.log('warn', 'webhook disabled', {
          workspaceId: scope.workspaceId,
          webhookId: endpointId,
          reason,
        });
        return committed;
      }
      if (committed.part !== 'change') return committed;
    }
    return options.store.commit(ops);
  };
}

/** The title contains only the host, because the rest of the address may contain secrets. */
function itemsOf(
  endpoint: Endpoint,
  directory: Directory,
  { ids, clock }: { ids: Ids; clock: Clock },
): Change[] {
  const { host } = new URL(displayAddress(endpoint));
  return itemsForAdmins(
    {
      kind: 'webhook_disabled',
      reason: 'webhook',
      title: `The webhook to ${host} was disabled`,
      body: `${endpoint.disabledReason} Once the receiver works again, enable the webhook and replay the missed events.`,
      target: { kind: endpointModel.name, id: endpoint.id },
    },
    { ids, nowMs: clock.nowMs(), directory },
  );
}
