// Probation: a new install only proposes what it would write, until people have approved enough of its runs or somebody ends probation.
// A run that nobody looked at never counts. docs/spec/plugins.md › Upgrade.
import type { Change } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { itemsForAdmins } from '../../inbox/items.ts';
import { proposal } from '../../proposals/contract.ts';
import { proposalKind } from '../../proposals/kind.ts';
import { probationRuns } from './mode.ts';
import { installKind, type Install } from './schema.ts';

/**
 * Counts one run whose proposal a person approved as a whole. The last one ends probation, and admins are notified: from then on the
 * plugin writes by itself. The change has its event, so that the audit log names who approved.
 */
export async function countApproval(ctx: Context, installId: string | null): Promise<readonly Change[]> {
  const install = installId === null ? undefined : await installKind.find(ctx, installId);
  if (!install || install.probationLeft === 0) return [];
  const probationLeft = install.probationLeft - 1;
  const counted = countChange(ctx, install, probationLeft);
  if (probationLeft > 0) return counted;
  const { ids, directory } = ctx;
  return [...counted, ...itemsForAdmins(endedNote(install), { ids, directory, nowMs: ctx.nowMs() })];
}

/**
 * Takes the approvals back that an undo reverts, while the plugin is on probation. Probation that has ended stays so: somebody begins it
 * again.
 * @param undone each with the install that it is kept of
 */
export async function takeApprovalsBack(
  ctx: Context,
  undone: readonly { readonly id: string; readonly install_id: string | null }[],
): Promise<readonly Change[]> {
  const isProposal = ({ id }: { readonly id: string }): boolean => id.startsWith(`${proposal.id}_`);
  const changes: Change[] = [];
  for (const [installId, rows] of Map.groupBy(undone.filter(isProposal), (row) => row.install_id)) {
    const install = installId === null ? undefined : await installKind.find(ctx, installId);
    if (!install || install.probationLeft === 0) continue;
    const proposals = await proposalKind.findMany(
      ctx,
      rows.map(({ id }) => id),
    );
    const counted = proposals.filter(({ status }) => status === 'approved').length;
    changes.push(...countChange(ctx, install, Math.min(install.probationLeft + counted, probationRuns)));
  }
  return changes;
}

/** Approvals at the same time contend for the install, whatever else they write. */
function countChange(ctx: Context, install: Install, probationLeft: number): readonly Change[] {
  const change = installKind.update(install, { probationLeft }, ctx.nowMs());
  return change ? [{ ...change, contends: install.id }] : [];
}

function endedNote({ id, manifest, pluginId }: Install) {
  return {
    kind: 'plugin_probation_ended' as const,
    reason: 'plugin' as const,
    title: `The plugin ${manifest.name ?? pluginId} is no longer on probation`,
    body: `People have approved ${probationRuns} of its runs. From now on it writes by itself. To have it propose again: \`tatami plugin probation ${pluginId} --begin\`.`,
    target: { kind: installKind.name, id },
  };
}
