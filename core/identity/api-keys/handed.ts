// Keys that one member makes for another. Their maker may still have them, so they end when the maker may no longer make them: when the
// maker is demoted or removed, when the key that made them is revoked, and when their member becomes an owner. What was made with a key
// ends with it, or somebody would go on in that.
import type { Change } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { tenantStatement, type Row } from '../../store/statement.ts';
import { tenantOp, type Op } from '../../store/store.ts';
import { apiKeyKind, type ApiKey, type Maker } from './kind.ts';

type Reading = Pick<Context, 'store' | 'scope' | 'nowMs'>;

/** Of those that a member made for others, the ones whose members have other roles than these. */
const handedBeyond = `workspace_id = :ws AND minted_by = :maker AND member_id <> :maker
  AND NOT EXISTS (SELECT 1 FROM members AS m WHERE m.workspace_id = :ws AND m.id = api_keys.member_id
    AND m.role IN (SELECT value FROM json_each(:roles)))`;
const readHandedBy = tenantStatement<Row>(
  'api_keys.handed_by',
  `SELECT ${apiKeyKind.select} FROM api_keys WHERE ${handedBeyond}`,
);
const readHandedTo = tenantStatement<Row>(
  'api_keys.handed_to',
  `SELECT ${apiKeyKind.select} FROM api_keys WHERE workspace_id = :ws AND member_id = :member AND minted_by <> member_id
   AND NOT EXISTS (SELECT 1 FROM members AS m WHERE m.workspace_id = :ws AND m.id = api_keys.minted_by
     AND m.role = 'owner' AND m.deleted_at IS NULL)`,
);
const readMadeWith = tenantStatement<Row>(
  'api_keys.made_with',
  `SELECT ${apiKeyKind.select} FROM api_keys WHERE workspace_id = :ws
   AND (minted_with IN (SELECT value FROM json_each(:ids)) OR replaced_by IN (SELECT value FROM json_each(:ids)))`,
);
const noneHandedBy = tenantStatement(
  'api_keys.none_handed_by',
  `SELECT count(*) FROM api_keys WHERE ${handedBeyond} AND revoked_at IS NULL HAVING count(*) = 0`,
);
const noneMadeWith = tenantStatement(
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

/** Whose right what the caller makes depends on. */
export function makerOf({ authority: { actor } }: Pick<Context, 'authority'>): Maker {
  const { kind, id, memberId } = actor;
  return { memberId: memberId ?? null, keyId: kind === 'api_key' ? id : null };
}

/** Goes with what is handed out: it fails if the right to do so was taken away meanwhile, from the member or from the key. */
export function stillMayOp(ctx: Context): Op {
  const { memberId, keyId } = makerOf(ctx);
  const values = { id: memberId, role: ctx.standing?.role ?? null, key: keyId };
  return tenantOp(ctx.scope, stillMay, values, { expectRows: 1 });
}

/** Goes with a key that is made. Where no owner makes it for another, it fails if that one has become an owner meanwhile. */
export function handingOps(ctx: Context, memberId: string): Op[] {
  if (memberId === ctx.authority.actor.memberId || ctx.standing?.role === 'owner') return [stillMayOp(ctx)];
  return [stillMayOp(ctx), tenantOp(ctx.scope, stillNoOwner, { id: memberId }, { expectRows: 1 })];
}

/** Keys that end, and all whose makings end with them. */
interface Ending {
  readonly changes: readonly Change[];
  /** Fail where another was made meanwhile. */
  readonly ops: readonly Op[];
  readonly ids: readonly string[];
}

/** Ends the keys that no owner made for a member, for the commit by which the member becomes an owner. */
export async function endHandedTo(ctx: Reading, member: string): Promise<Pick<Ending, 'changes' | 'ops'>> {
  const rows = await ctx.store.read(ctx.scope, readHandedTo, { member });
  const roots = rows.map((row) => apiKeyKind.fromRow(row));
  const { changes, ops } = endingOf(ctx, await descentOf(ctx, roots, true));
  return { changes, ops };
}

/** Ends the keys that a member made for others. @param roles of the members whose keys go on */
export async function endHandedBy(ctx: Reading, maker: string, roles: readonly string[]): Promise<Ending> {
  const which = { maker, roles: JSON.stringify(roles) };
  const rows = await ctx.store.read(ctx.scope, readHandedBy, which);
  const roots = rows.map((row) => apiKeyKind.fromRow(row));
  const ending = endingOf(ctx, await descentOf(ctx, roots, true));
  return { ...ending, ops: [...ending.ops, tenantOp(ctx.scope, noneHandedBy, which, { expectRows: 1 })] };
}

/** Ends the keys that a key made for others. @returns null where a live key replaced it, and so takes over what it made */
export async function endMadeWith(ctx: Reading, key: ApiKey): Promise<Ending | null> {
  return (await hasLiveSuccessor(ctx, key)) ? null : endingOf(ctx, await descentOf(ctx, [key], false));
}

interface Descent {
  /** The roots with what was made with them, whether it has ended or not. */
  readonly ending: readonly ApiKey[];
  /** These, and the keys that they replaced. */
  readonly ids: readonly string[];
  /** Of these, the ones that others than their members have. */
  readonly shared: readonly string[];
}

/** @param isShared whether others than their members have the roots, so that what these made for their own members ends as well */
async function descentOf(
  { store, scope }: Reading,
  roots: readonly ApiKey[],
  isShared: boolean,
): Promise<Descent> {
  const ending = new Map(roots.map((key) => [key.id, key]));
  const ids = new Set(ending.keys());
  const shared = new Set(isShared ? ids : []);
  const isMade = ({ mintedWith, mintedBy, memberId }: ApiKey): boolean =>
    mintedWith !== null && ids.has(mintedWith) && (mintedBy !== memberId || shared.has(mintedWith));
  const add = (key: ApiKey): string[] => {
    const [made, wasReplaced] = [isMade(key), ids.has(key.replacedBy ?? '')];
    if (ids.has(key.id) || !(made || wasReplaced)) return [];
    ids.add(key.id);
    if (made) ending.set(key.id, key);
    if (made || shared.has(key.replacedBy ?? '')) shared.add(key.id);
    return [key.id];
  };
  for (let round = [...ids]; round.length > 0;) {
    const rows = await store.read(scope, readMadeWith, { ids: JSON.stringify(round) });
    round = rows.flatMap((row) => add(apiKeyKind.fromRow(row)));
  }
  return { ending: [...ending.values()], ids: [...ids], shared: [...shared] };
}

function endingOf({ scope, nowMs }: Reading, { ending, ids, shared }: Descent): Ending {
  const now = nowMs();
  const which = { ids: JSON.stringify(ids), shared: JSON.stringify(shared) };
  return {
    changes: ending.flatMap((key) =>
      key.revokedAt === null ? (apiKeyKind.update(key, { revokedAt: now }, now) ?? []) : [],
    ),
    ops: [tenantOp(scope, noneMadeWith, which, { expectRows: 1 })],
    ids,
  };
}

async function hasLiveSuccessor({ store, scope, nowMs }: Reading, key: ApiKey): Promise<boolean> {
  for (let next = key.replacedBy; next !== null;) {
    const found = await store.readOne(scope, readSuccessor, { id: next, now: nowMs() });
    if (!found) return false;
    if (found.replaced_by === null) return true;
    next = found.replaced_by;
  }
  return false;
}
