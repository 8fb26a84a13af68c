// Disables endpoints when their owner loses the permission to create them, when the key that created them is
// revoked, and because of the responses of their receivers (docs/spec/webhooks.md › Disabling): always in the
// commit that records the cause.
import { namespaceScopes } from '../../../kernel/events/catalogue.ts';
import type { Delegation, RightsLoss } from '../../../kernel/changes/delegation.ts';
import { adminsOf, itemsFor } from '../../inbox/index.ts';
import { rightsOfRole, type Role } from '../../../kernel/rights/roles.ts';
import { tenantStatement, type SqlRow } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import { displayAddress } from './secrets.ts';
import { endpointModel, type Endpoint } from './model.ts';
import { systemAuthor } from '../../../kernel/changes/commit.ts';
import type { WebhooksOptions } from '../runtime.ts';
import type { Subscriptions } from '../subscriptions.ts';

const isOn = `workspace_id = :ws AND enabled = 1 AND deleted_at IS NULL
  AND (created_by = :maker OR created_with IN (SELECT value FROM json_each(:keys)))`;

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
function mayReceive(role: Role | null, { namespaces }: Endpoint): boolean {
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
      (one) => !member || keyIds.includes(one.createdWith ?? '') || !mayReceive(member.role, one),
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

export function createDisable(
  { services, clock, committer, directoryOf }: WebhooksOptions,
  subscriptions: Subscriptions,
): DisableEndpoint {
  const { store, ids, log } = services;
  return async (scope, endpointId, reason, ops) => {
    const [fence, rest] = [ops.slice(0, 1), ops.slice(1)];
    for (let plans = 0; plans < plansMax; plans++) {
      const endpoint = await subscriptions.enabled(scope, endpointId);
      const nowMs = clock.nowMs();
      const change =
        endpoint && endpointModel.update(endpoint, { enabled: false, disabledReason: reason }, nowMs);
      if (!change) break;
      const directory = await directoryOf(scope);
      const notice = noticeOf(
        change.after,
        'Once the receiver works again, enable the webhook and replay the missed events.',
      );
      const items = itemsFor(adminsOf(directory), notice, { ids, nowMs });
      const author = systemAuthor(scope, 'webhooks', directory);
      const committed = await committer.commit(author, [change, ...items], fence, rest);
      if (committed.ok)
        log('warn', 'webhook disabled', { workspaceId: scope.workspaceId, webhookId: endpointId, reason });
      if (committed.ok || committed.part !== 'change') return committed;
    }
    return store.commit(ops);
  };
}
