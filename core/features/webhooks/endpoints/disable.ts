// Disables endpoints when their owner loses the permission to create them, when the key that created them is
// revoked, and because of the responses of their receivers (docs/spec/webhooks.md › Disabling): always in the
// commit that records the cause.
import { namespaceScopes } from '../../../kernel/events/catalogue.ts';
import type { Delegation, RightsLoss } from '../../../kernel/changes/delegation.ts';
import { adminsOf, itemsFor } from '../../inbox/index.ts';
import { rightsOfRole, type Role } from '../../../kernel/rights/roles.ts';
import { tenantStatement, type SqlRow } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import { displayAddress } from './secrets.ts';
import { endpointModel, type Endpoint } from './model.ts';
import { systemAuthor, type Committer } from '../../../kernel/changes/commit.ts';
import type { Directory } from '../../../kernel/context.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Ids } from '../../../platform/lib/ids.ts';
import type { Log } from '../../../platform/lib/log.ts';
import type { Subscriptions } from '../subscriptions.ts';

const isOn = `workspace_id = :ws AND enabled = 1 AND deleted_at IS NULL
  AND (maker_id = :maker OR made_with IN (SELECT value FROM json_each(:keys)))`;

const readByMaker = tenantStatement<SqlRow>(
  'endpoints.of_maker',
  `SELECT ${endpointModel.select} FROM endpoints WHERE ${isOn}`,
);
/** Returns a row only if no other endpoint was created concurrently. */
const asManyLeft = tenantStatement(
  'endpoints.left_of_maker',
  `SELECT count(*) FROM endpoints WHERE ${isOn} HAVING count(*) = :left`,
);

/** Returns true if a member with that role could create the endpoint. */
function mayHear(role: Role | null, { namespaces }: Endpoint): boolean {
  if (role === null) return false;
  const { scopes } = rightsOfRole(role, []);
  return ['webhooks:write', ...namespaces.map((one) => namespaceScopes[one]!)].every((one) =>
    scopes.has(one),
  );
}

function reasonOf({ member, name }: RightsLoss): string {
  if (!member) return `The API key ${name}, which created this webhook, was revoked.`;
  return `${name}, who created this webhook, ${member.role === null ? 'was removed' : `now has the role ${member.role}`}.`;
}

export const endpointDelegation: Delegation = {
  async afterLoss({ store, scope, ids, nowMs, directory }, loss) {
    const { member, keyIds } = loss;
    const which = { maker: member?.id ?? null, keys: JSON.stringify(keyIds) };
    const endpoints = (await store.read(scope, readByMaker, which)).map((row) => endpointModel.fromRow(row));
    const ending = endpoints.filter(
      (one) => !member || keyIds.includes(one.madeWith ?? '') || !mayHear(member.role, one),
    );
    const disabledReason = reasonOf(loss);
    return {
      changes: ending.flatMap((one) => {
        const change = endpointModel.update(one, { enabled: false, disabledReason }, nowMs());
        if (!change) return [];
        const admins = adminsOf(directory).filter((id) => id !== member?.id);
        const notice = noticeOf(
          change.after,
          'Enable the webhook to become its owner, then replay the missed events.',
        );
        return [change, ...itemsFor(admins, notice, { ids, nowMs: nowMs() })];
      }),
      ops: [
        tenantOp(scope, asManyLeft, { ...which, left: endpoints.length - ending.length }, { expectRows: 1 }),
      ],
    };
  },
};

/** The title contains only the host, because the rest of the address may contain secrets. */
function noticeOf(endpoint: Endpoint, advice: string) {
  return {
    kind: 'webhook_disabled',
    reason: 'webhook',
    title: `The webhook to ${new URL(displayAddress(endpoint)).host} was disabled`,
    body: `${endpoint.disabledReason} ${advice}`,
    target: { kind: endpointModel.name, id: endpoint.id },
  } as const;
}

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
      const notice = noticeOf(
        change.after,
        'Once the receiver works again, enable the webhook and replay the missed events.',
      );
      const at = { nowMs: options.clock.nowMs(), ids: options.ids };
      const changes = [change, ...itemsFor(adminsOf(directory), notice, at)];
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
