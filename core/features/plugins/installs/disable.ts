// Disables a plugin whose runs fail or are killed too often, and notifies the admins of the workspace.
import { systemAuthor } from '../../../kernel/changes/commit.ts';
import { itemsForAdmins } from '../../inbox/index.ts';
import type { Op, Scope } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import type { DisableReason } from '../planning/failures.ts';
import { installModel, type Install } from './schema.ts';

/** Returns the ops that update the rows that depend on the state of an install. */
export type StateOps = (install: Install, at: { readonly scope: Scope }) => readonly Op[];

export type Disable = (scope: Scope, install: Install, why: DisableReason) => Promise<void>;

export function createDisable(deps: PluginDeps, stateOps: StateOps): Disable {
  const { clock, committer } = deps;
  const { ids, log } = deps.services;
  return async (scope, install, { state, reason }) => {
    const change = installModel.update(install, { state, stateReason: reason }, clock.nowMs());
    if (!change) return;
    const directory = await deps.directoryOf(scope);
    const author = systemAuthor(scope, 'sandbox', directory);
    const items = itemsForAdmins(noteOf(install, reason), { ids, nowMs: clock.nowMs(), directory });
    const committed = await committer.commit(
      author,
      [change, ...items],
      [],
      stateOps(change.after, { scope }),
    );
    if (!committed.ok) return;
    log('warn', 'plugin disabled', {
      workspaceId: scope.workspaceId,
      installId: install.id,
      reason,
    });
  };
}

function noteOf(install: Install, reason: string) {
  return {
    kind: 'plugin_disabled' as const,
    reason: 'plugin' as const,
    title: `The plugin ${install.manifest.name ?? install.pluginId} was disabled`,
    body: `${reason} Check its runs, fix the cause, then install a new version or enable it again. Missed events are counted and can be backfilled.`,
    target: { kind: installModel.name, id: install.id },
  };
}
