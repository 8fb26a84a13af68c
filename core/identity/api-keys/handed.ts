// Ends keys that one member created for another. The creator may still know such a key, so it ends when the creator may no longer create
// it: when the creator is demoted or removed, when the creating key is revoked, and when its member becomes an owner. Keys created with an
// ended key end too, because the creator may know those as well.
import type { Change } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { tenantStatement, type SqlRow } from '../../store/statement.ts';
import { tenantOp, type Op } from '../../store/store.ts';
import { apiKeyModel, type ApiKey, type Maker } from './kind.ts';

type Reading = Pick<Context, 'store' | 'scope' | 'nowMs'>;

/** Keys that a member created for others whose role is not in `:roles`. */
const handedBeyond = `workspace_id = :ws AND minted_by = :maker AND member_id <> :maker
  AND NOT EXISTS (SELECT 1 FROM members AS m WHERE m.workspace_id = :ws AND m.id = api_keys.member_id
    AND m.role IN (SELECT value FROM json_each(:roles)))`;
const readHandedBy = tenantStatement<SqlRow>(
  'api_keys.handed_by',
  `SELECT ${apiKeyModel.select} FROM api_keys WHERE ${handedBeyond}`,
);
const readHandedTo = tenantStatement<SqlRow>(
  'api_keys.handed_to',
  `SELECT ${apiKeyModel.select} FROM api_keys WHERE workspace_id = :ws AND member_id = :member AND minted_by <> member_id
   AND NOT EXISTS (SELECT 1 FROM members AS m WHERE m.workspace_id = :ws AND m.id = api_keys.minted_by
     AND m.role = 'owner' AND m.deleted_at IS NULL)`,
);
const readMintedWith = tenantStatement<SqlRow>(
  'api_keys.made_with',
  `SELECT ${apiKeyModel.select} FROM api_keys WHERE workspace_id = :ws
   AND (minted_with IN (SELECT value FROM json_each(:ids)) OR replaced_by IN (SELECT value FROM json_each(:ids)))`,
);
const noneHandedBy = tenantStatement(
  'api_keys.none_handed_by',
  `SELECT count(*) FROM api_keys WHERE ${handedBeyond} AND revoked_at IS NULL HAVING count(*) = 0`,
);
const noneMintedWith = tenantStatement(
  'api_keys.none_made_with',
  `SELECT count(*) FROM api_keys WHERE workspace_id = :ws AND revoked_at IS NULL
     AND minted_with IN (SELECT value FROM json_each(:ids))
     AND (minted_by <> member_id OR minted_with IN (SELECT value FROM json_each(:shared)))
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
const stillMay = tenantStatement(
  'members.still_may',
  `SELECT 1 FROM members AS m WHERE m.workspace_id = :ws AND m.id = :id AND (:role IS NULL OR m.role = :role) AND m.deleted_at IS NULL
     AND (:key IS NULL OR EXISTS (SELECT 1 FROM api_keys AS k WHERE k.workspace_id = :ws AND k.id = :key AND k.revoked_at IS NULL))`,
);

/** Returns the member and key on whose rights the caller's new keys and invitations depend. */
export function makerOf({ authority: { actor } }: Pick<Context, 'authority'>): Maker {
  const { kind, id, memberId } = actor;
  return { memberId: memberId ?? null, keyId: kind === 'api_key' ? id : null };
}

/** Added to a commit that gives rights to others: fails if the member or key lost the right to do so meanwhile. */
export function stillMayOp(ctx: Context): Op {
  const { memberId, keyId } = makerOf(ctx);
  const values = { id: memberId, role: ctx.membership?.role ?? null, key: keyId };
  return tenantOp(ctx.scope, stillMay, values, { expectRows: 1 });
}

/** Added to a commit that creates a key. Fails if a caller who is not an owner creates it for a member who became an owner meanwhile. */
export function handingOps(ctx: Context, memberId: string): Op[] {
  if (memberId === ctx.authority.actor.memberId || ctx.membership?.role === 'owner') return [stillMayOp(ctx)];
  return [stillMayOp(ctx), tenantOp(ctx.scope, stillNoOwner, { id: memberId }, { expectRows: 1 })];
}

/** Keys that end. */
interface Ending {
  readonly changes: readonly Change[];
  /** Fail if another such key was created meanwhile. */
  readonly ops: readonly Op[];
  readonly ids: readonly string[];
}

/** Ends the keys that others than owners created for a member. For the commit in which the member becomes an owner. */
export async function endHandedTo(ctx: Reading, member: string): Promise<Pick<Ending, 'changes' | 'ops'>> {
  const rows = await ctx.store.read(ctx.scope, readHandedTo, { member });
  const roots = rows.map((row) => apiKeyModel.fromRow(row));
  const { changes, ops } = endingOf(ctx, await descentOf(ctx, roots, true));
  return { changes, ops };
}

/** Ends the keys that a member created for others. @param roles roles of the members whose keys stay valid */
export async function endHandedBy(ctx: Reading, maker: string, roles: readonly string[]): Promise<Ending> {
  const which = { maker, roles: JSON.stringify(roles) };
  const rows = await ctx.store.read(ctx.scope, readHandedBy, which);
  const roots = rows.map((row) => apiKeyModel.fromRow(row));
  const ending = endingOf(ctx, await descentOf(ctx, roots, true));
  return { ...ending, ops: [...ending.ops, tenantOp(ctx.scope, noneHandedBy, which, { expectRows: 1 })] };
}

/** Ends the keys that a key created for others. @returns null if a live successor has replaced the key and takes them over */
export async function endMintedWith(ctx: Reading, key: ApiKey): Promise<Ending | null> {
  return (await hasLiveSuccessor(ctx, key)) ? null : endingOf(ctx, await descentOf(ctx, [key], false));
}

interface Descent {
  /** The roots and the keys created with them, ended or not. */
  readonly ending: readonly ApiKey[];
  /** Ids of `ending`, and of the keys that these replaced. */
  readonly ids: readonly string[];
  /** The part of `ids` that somebody other than the member of the key may know. */
  readonly shared: readonly string[];
}

/** @param isShared true if others may know the roots, so that keys which the roots created for their own members end too */
async function descentOf(
  { store, scope }: Reading,
  roots: readonly ApiKey[],
  isShared: boolean,
): Promise<Descent> {
  const ending = new Map(roots.map((key) => [key.id, key]));
  const ids = new Set(ending.keys());
  const shared = new Set(isShared ? ids : []);
  const isMinted = ({ mintedWith, mintedBy, memberId }: ApiKey): boolean =>
    mintedWith !== null && ids.has(mintedWith) && (mintedBy !== memberId || shared.has(mintedWith));
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

function endingOf({ scope, nowMs }: Reading, { ending, ids, shared }: Descent): Ending {
  const now = nowMs();
  const which = { ids: JSON.stringify(ids), shared: JSON.stringify(shared) };
  return {
    changes: ending.flatMap((key) =>
      key.revokedAt === null ? (apiKeyModel.update(key, { revokedAt: now }, now) ?? []) : [],
    ),
    ops: [tenantOp(scope, noneMintedWith, which, { expectRows: 1 })],
    ids,
  };
}

async function hasLiveSuccessor({ store, scope, nowMs }: Reading, key: ApiKey): Promise<boolean> {
  for (let next = key.replacedBy; next !== null;) {
    const successor = await store.readOne(scope, readSuccessor, { id: next, now: nowMs() });
    if (!successor) return false;
    if (successor.replaced_by === null) return true;
    next = successor.replaced_by;
  }
  return false;
}
