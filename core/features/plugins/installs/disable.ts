// Disables a plugin whose runs fail or are killed too often, and notifies the admins of the workspace.
import { systemAuthor, type Committer } from '../../../kernel/changes/commit.ts';
import type { Directory } from '../../../kernel/context.ts';
import { itemsForAdmins } from '../../inbox/items.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Ids } from '../../../platform/lib/ids.ts';
import type { Log } from '../../../platform/lib/log.ts';
import type { Op, Scope } from '../../../platform/store/store.ts';
import type { DisableReason } from '../planning/failures.ts';
import { installModel, type Install } from './schema.ts';

export interface DisableOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  /** Returns the ops that update the rows that depend on the state of an install. */
  stateOps(install: Install, at: { readonly scope: Scope }): readonly Op[];
}

export type Disable = (scope: Scope, install: Install, why: DisableReason) => Promise<void>;

export function createDisable(options: DisableOptions): Disable {
  const { clock, ids, committer } = options;
  return async (scope, install, { state, reason }) => {
    const change = installModel.update(install, { state, stateReason: reason }, clock.nowMs());
    if (!change) return;
    const directory = await options.directoryOf(scope);
    const author = systemAuthor(scope, 'sandbox', directory);
    const items = itemsForAdmins(noteOf(install, reason), { ids, nowMs: clock.nowMs(), directory });
    const stateOps = options.stateOps(change.after, { scope });
    const committed = await committer.commit(author, [change, ...items], [], stateOps);
    if (!committed.ok) return;
    options.log('warn', 'plugin disabled', {
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
