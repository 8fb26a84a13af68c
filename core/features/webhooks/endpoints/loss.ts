// Disables endpoints when their owner loses the permission to create them, or when the key that created them is
// revoked, in the commit that removes the permission.
import { namespaceScopes } from '../../../kernel/events/catalogue.ts';
import type { Delegation, RevocationDeps, RightsLoss } from '../../../kernel/changes/delegation.ts';
import { adminsOf, itemsFor } from '../../inbox/index.ts';
import { rightsOfRole, type Role } from '../../../kernel/rights/roles.ts';
import { tenantStatement, type SqlRow } from '../../../platform/store/statement.ts';
import { tenantOp } from '../../../platform/store/store.ts';
import { displayAddress } from './address.ts';
import { endpointModel, type Endpoint } from './model.ts';

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
  async afterLoss(deps, loss) {
    const { store, scope, nowMs } = deps;
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
        return change ? [change, ...itemsOf(deps, loss, change.after)] : [];
      }),
      ops: [
        tenantOp(scope, asManyLeft, { ...which, left: endpoints.length - ending.length }, { expectRows: 1 }),
      ],
    };
  },
};

/** The title contains only the host, because the rest of the address may contain secrets. */
function itemsOf({ ids, nowMs, directory }: RevocationDeps, loss: RightsLoss, endpoint: Endpoint) {
  const admins = adminsOf(directory).filter((id) => id !== loss.member?.id);
  return itemsFor(
    admins,
    {
      kind: 'webhook_disabled',
      reason: 'webhook',
      title: `The webhook to ${new URL(displayAddress(endpoint)).host} was disabled`,
      body: `${endpoint.disabledReason} Enable the webhook to become its owner, then replay the missed events.`,
      target: { kind: endpointModel.name, id: endpoint.id },
    },
    { ids, nowMs: nowMs() },
  );
}
