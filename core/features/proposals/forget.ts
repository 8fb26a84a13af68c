// Removes the data of purged issues from proposals: values, titles and the recorded writes. Open proposals
// are rejected, because an issue that they would change no longer exists.
import type { ChangeSet } from '../../kernel/changes/change.ts';
import type { Context } from '../../kernel/context.ts';
import { mentionsOf } from '../../platform/lib/ids.ts';
import { archiveItemsAbout, withoutTextOfItems } from '../inbox/index.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import type { Op } from '../../platform/store/store.ts';
import { titleOf } from './diff.ts';
import { proposalModel, type StoredEffect, type Proposal } from './model.ts';
import { targetOf, sealWrites } from './make.ts';
import type { RowOf } from '../../kernel/table/define.ts';
import { proposalTable } from './tables.ts';

/** Also replaces the text that an inbox item quotes. */
export const purgedReason = 'An issue of the proposal was purged.';

type Row = RowOf<typeof proposalTable>;

const page = tenantStatement<Pick<Row, 'id' | 'issue_ids_json' | 'diff_json'>>(
  'proposals.page',
  `SELECT id, issue_ids_json, diff_json FROM proposals WHERE workspace_id = :ws AND id > :after ORDER BY id LIMIT 50`,
);
/**
 * Updates the row without an event and a new version, because the removal is not a change of the proposal.
 */
const forget = proposalTable.update('forget', ['title', 'diff_json', 'writes_sealed_json'], ['id']);

/** @param ids ids of the purged issues */
export async function forgetInProposals(
  ctx: Context,
  ids: ReadonlySet<string>,
): Promise<Required<Pick<ChangeSet, 'changes' | 'ops'>>> {
  const isAbout = mentionsOf(ids);
  if (ids.size === 0) return { changes: [], ops: [] };
  const all = { changes: [] as ChangeSet['changes'][number][], ops: [] as Op[] };
  for (let rows = await ctx.store.read(ctx.scope, page, { after: '' }); rows.length > 0;) {
    const about = rows.filter(({ issue_ids_json, diff_json }) => isAbout(issue_ids_json + diff_json));
    const current = await proposalModel.findMany(
      ctx,
      about.map(({ id }) => id),
    );
    for (const one of current) {
      const { changes, ops } = await forgetIn(ctx, one, (effect) => isOf(effect, ids, isAbout));
      all.changes.push(...changes);
      all.ops.push(...ops);
    }
    rows = await ctx.store.read(ctx.scope, page, { after: rows.at(-1)!.id });
  }
  return all;
}

function isOf(
  { kind, entityId, issueId, values }: StoredEffect,
  ids: ReadonlySet<string>,
  isAbout: (text: string) => boolean,
): boolean {
  if (ids.has(issueId ?? '') || (kind === 'issue' && ids.has(entityId))) return true;
  return isAbout(JSON.stringify(values));
}

async function forgetIn(ctx: Context, current: Proposal, isGone: (effect: StoredEffect) => boolean) {
  const diff = current.diff.map((effect) => (isGone(effect) ? withoutWords(effect) : effect));
  const title = titleOf(diff, current.actor.kind === 'plugin' ? current.actor.name : null);
  const writes = sealWrites(ctx.sealing, ctx.workspaceId, current.id, []);
  const ops = [
    forget(ctx.scope, {
      id: current.id,
      title,
      diff_json: JSON.stringify(diff),
      writes_sealed_json: JSON.stringify(writes),
    }),
    ...(await withoutTextOfItems(
      ctx,
      { target: targetOf(current), createdAt: current.createdAt },
      purgedReason,
    )),
  ];
  if (current.status !== 'open') return { changes: [], ops };
  const now = ctx.nowMs();
  const change = proposalModel.update(
    current,
    { status: 'rejected', reason: purgedReason, title, diff, decidedAt: now },
    now,
  )!;
  const cause = current.cause ? { cause: current.cause } : {};
  return { changes: [{ ...change, ...cause }, ...(await archiveItemsAbout(ctx, targetOf(current)))], ops };
}

/** Removes the name as well, because an issue without a number has its title as name. */
function withoutWords(effect: StoredEffect): StoredEffect {
  return {
    ...effect,
    name: null,
    values: Object.fromEntries(Object.keys(effect.values).map((name) => [name, {}])),
  };
}
