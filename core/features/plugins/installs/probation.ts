// Counts approved runs toward the end of a probation, during which the writes of a new install become
// proposals. Runs without a review do not count. docs/spec/plugins.md › Upgrade.
import type { Change } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import { itemsForAdmins } from '../../inbox/index.ts';
import { proposal } from '../../proposals/contract.ts';
import { proposalModel } from '../../proposals/index.ts';
import { probationRuns } from './mode.ts';
import { installModel, type Install } from './schema.ts';

/**
 * Counts a run whose proposal a person approved completely. The last approval ends probation and notifies the
 * admins. The count is a change of the install with an event, so that the audit log names the approver.
 */
export async function countApproval(ctx: Context, installId: string | null): Promise<readonly Change[]> {
  const install = installId === null ? undefined : await installModel.find(ctx, installId);
  if (!install || install.probationLeft === 0) return [];
  const probationLeft = install.probationLeft - 1;
  const counted = countChange(ctx, install, probationLeft);
  if (probationLeft > 0) return counted;
  const { ids, directory } = ctx;
  return [...counted, ...itemsForAdmins(endedNote(install), { ids, directory, nowMs: ctx.nowMs() })];
}

/**
 * Removes approvals that an undo reverts from the count. A probation that has ended does not resume.
 * @param undone rows of stored changes, each with its install
 */
export async function takeApprovalsBack(
  ctx: Context,
  undone: readonly { readonly id: string; readonly install_id: string | null }[],
): Promise<readonly Change[]> {
  const isProposal = ({ id }: { readonly id: string }): boolean => id.startsWith(`${proposal.id}_`);
  const changes: Change[] = [];
  for (const [installId, rows] of Map.groupBy(undone.filter(isProposal), (row) => row.install_id)) {
    const install = installId === null ? undefined : await installModel.find(ctx, installId);
    if (!install || install.probationLeft === 0) continue;
    const proposals = await proposalModel.findMany(
      ctx,
      rows.map(({ id }) => id),
    );
    const counted = proposals.filter(({ status }) => status === 'approved').length;
    changes.push(...countChange(ctx, install, Math.min(install.probationLeft + counted, probationRuns)));
  }
  return changes;
}

/** Concurrent approvals contend for the install, regardless of their other writes. */
function countChange(ctx: Context, install: Install, probationLeft: number): readonly Change[] {
  const change = installModel.update(install, { probationLeft }, ctx.nowMs());
  return change ? [{ ...change, contends: install.id }] : [];
}

function endedNote({ id, manifest, pluginId }: Install) {
  return {
    kind: 'plugin_probation_ended' as const,
    reason: 'plugin' as const,
    title: `The plugin ${manifest.name ?? pluginId} is no longer on probation`,
    body: `The plugin now writes without approval, because people approved ${probationRuns} of its runs. To require approval again, run \`tatami plugin probation ${pluginId} --begin\`.`,
    target: { kind: installModel.name, id },
  };
}
