// Revokes keys that one member created for another. The creator may still have the text of such a key, so the
// key ends when the creator may no longer create it: when the creator loses a role or is removed, when the
// creating key is revoked, and when the member of the key becomes an owner. Keys created with a revoked key
// end too, because the creator may have those as well.
import type { Delegation, RevocationDeps, RevocationEffects } from '../../kernel/changes/delegation.ts';
import type { Context } from '../../kernel/context.ts';
import { tenantStatement, type SqlRow } from '../../platform/store/statement.ts';
import { tenantOp, type Op } from '../../platform/store/store.ts';
import { endDelegated, mayHandOut, stillMayOp } from '../people/index.ts';
import { apiKeyModel, type ApiKey } from './model.ts';

/** Condition for the keys that a member created for others whose role is not in `:roles`. */
const handedBeyond = `workspace_id = :ws AND created_by = :maker AND member_id <> :maker
  AND NOT EXISTS (SELECT 1 FROM members AS m WHERE m.workspace_id = :ws AND m.id = api_keys.member_id
    AND m.role IN (SELECT value FROM json_each(:roles)))`;
const readHandedBy = tenantStatement<SqlRow>(
  'api_keys.handed_by',
  `SELECT ${apiKeyModel.select} FROM api_keys WHERE ${handedBeyond}`,
);
const readHandedTo = tenantStatement<SqlRow>(
  'api_keys.handed_to',
  `SELECT ${apiKeyModel.select} FROM api_keys WHERE workspace_id = :ws AND member_id = :member AND created_by <> member_id
   AND NOT EXISTS (SELECT 1 FROM members AS m WHERE m.workspace_id = :ws AND m.id = api_keys.created_by
     AND m.role = 'owner' AND m.deleted_at IS NULL)`,
);
const readMintedWith = tenantStatement<SqlRow>(
  'api_keys.created_with',
  `SELECT ${apiKeyModel.select} FROM api_keys WHERE workspace_id = :ws
   AND (created_with IN (SELECT value FROM json_each(:ids)) OR replaced_by IN (SELECT value FROM json_each(:ids)))`,
);
const noneHandedBy = tenantStatement(
  'api_keys.none_handed_by',
  `SELECT count(*) FROM api_keys WHERE ${handedBeyond} AND revoked_at IS NULL HAVING count(*) = 0`,
);
const noneMintedWith = tenantStatement(
  'api_keys.none_created_with',
  `SELECT count(*) FROM api_keys WHERE workspace_id = :ws AND revoked_at IS NULL
     AND created_with IN (SELECT value FROM json_each(:ids))
     AND (created_by <> member_id OR created_with IN (SELECT value FROM json_each(:shared)))
   HAVING count(*) = 0`,
);
const readSuccessor = tenantStatement<{ replaced_by: string | null }>(
  'api_keys.successor',
  `SELECT replaced_by FROM api_keys WHERE workspace_id = :ws AND id = :id
     AND (replaced_by IS NOT NULL OR (revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)))`,
);
const stillNoOwner = tenantStatement(
  'members.still_no_owner',
  "UPDATE members SET version = version WHERE workspace_id = :ws AND id = :id AND role <> 'owner'",
);
/**
 * Operations for the commit that creates a key. They also fail if a caller who is not an owner creates the
 * key for a member who became an owner meanwhile.
 */
export function handingOps(ctx: Context, memberId: string): Op[] {
  if (memberId === ctx.authority.actor.memberId || ctx.membership?.role === 'owner') return [stillMayOp(ctx)];
  return [stillMayOp(ctx), tenantOp(ctx.scope, stillNoOwner, { id: memberId }, { expectRows: 1 })];
}

export const keyDelegation: Delegation = {
  /** Ends the keys that the member created for others and may no longer create with the new role. */
  async afterLoss(deps, { member }) {
    if (!member) return { changes: [], ops: [] };
    const which = { maker: member.id, roles: JSON.stringify(mayHandOut(member.role)) };
    const rows = await deps.store.read(deps.scope, readHandedBy, which);
    const roots = rows.map((row) => apiKeyModel.fromRow(row));
    const ending = endingOf(deps, await descentOf(deps, roots, true));
    return { ...ending, ops: [...ending.ops, tenantOp(deps.scope, noneHandedBy, which, { expectRows: 1 })] };
  },
  /** Ends the keys that members who are not owners created for the member. */
  async afterOwnership(deps, memberId) {
    const rows = await deps.store.read(deps.scope, readHandedTo, { member: memberId });
    const roots = rows.map((row) => apiKeyModel.fromRow(row));
    return endingOf(deps, await descentOf(deps, roots, true));
  },
};

/**
 * Ends the objects that were created with a revoked key for others. Ends nothing if a live successor has
 * replaced the key, because the objects then depend on the successor.
 */
export async function afterRevocation(deps: RevocationDeps, key: ApiKey): Promise<RevocationEffects> {
  if (await hasLiveSuccessor(deps, key)) return { changes: [], ops: [] };
  const { changes, ops, keyIds } = endingOf(deps, await descentOf(deps, [key], false));
  const rest = await endDelegated(deps, { member: null, name: key.name, keyIds });
  return {
    changes: [...changes.filter(({ id }) => id !== key.id), ...rest.changes],
    ops: [...ops, ...rest.ops],
  };
}

interface Descent {
  /** The given keys and the keys created with them, revoked or not. */
  readonly ending: readonly ApiKey[];
  /** Ids of `ending`, and of earlier keys that were rolled to one of them. */
  readonly ids: readonly string[];
  /** The part of `ids` whose text somebody other than the member of the key may have. */
  readonly shared: readonly string[];
}

/**
 * @param isShared true if others may have the text of the given keys; keys that these created for their own
 * members then end too
 */
async function descentOf(
  { store, scope }: RevocationDeps,
  roots: readonly ApiKey[],
  isShared: boolean,
): Promise<Descent> {
  const ending = new Map(roots.map((key) => [key.id, key]));
  const ids = new Set(ending.keys());
  const shared = new Set(isShared ? ids : []);
  const isMinted = ({ createdWith, createdBy, memberId }: ApiKey): boolean =>
    createdWith !== null && ids.has(createdWith) && (createdBy !== memberId || shared.has(createdWith));
  const add = (key: ApiKey): string[] => {
    const [wasMinted, wasReplaced] = [isMinted(key), ids.has(key.replacedBy ?? '')];
    if (ids.has(key.id) || !(wasMinted || wasReplaced)) return [];
    ids.add(key.id);
    if (wasMinted) ending.set(key.id, key);
    if (wasMinted || shared.has(key.replacedBy ?? '')) shared.add(key.id);
    return [key.id];
  };
  for (let round = [...ids]; round.length > 0;) {
    const rows = await store.read(scope, readMintedWith, { ids: JSON.stringify(round) });
    round = rows.flatMap((row) => add(apiKeyModel.fromRow(row)));
  }
  return { ending: [...ending.values()], ids: [...ids], shared: [...shared] };
}

/** The operations fail if another dependent key was created meanwhile. */
function endingOf(
  { scope, nowMs }: RevocationDeps,
  { ending, ids, shared }: Descent,
): Required<RevocationEffects> {
  const now = nowMs();
  const which = { ids: JSON.stringify(ids), shared: JSON.stringify(shared) };
  return {
    changes: ending.flatMap((key) =>
      key.revokedAt === null ? (apiKeyModel.update(key, { revokedAt: now }, now) ?? []) : [],
    ),
    ops: [tenantOp(scope, noneMintedWith, which, { expectRows: 1 })],
    keyIds: ids,
  };
}

async function hasLiveSuccessor({ store, scope, nowMs }: RevocationDeps, key: ApiKey): Promise<boolean> {
  for (let next = key.replacedBy; next !== null;) {
    const successor = await store.readOne(scope, readSuccessor, { id: next, now: nowMs() });
    if (!successor) return false;
    if (successor.replaced_by === null) return true;
    next = successor.replaced_by;
  }
  return false;
}
