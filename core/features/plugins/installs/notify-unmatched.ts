// Notifies admins once of each install that cannot read all subscribed events, because earlier server
// versions delivered events without checking the scope. A notified install has a state reason.
import type { Change } from '../../../kernel/changes/change.ts';
import { systemAuthor } from '../../../kernel/changes/commit.ts';
import { itemsForAdmins } from '../../inbox/items.ts';
import { systemStatement, type SqlRow } from '../../../platform/store/statement.ts';
import { scopeOf } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import { unmatchedReason } from './versions/matching-types.ts';
import { installModel } from './schema.ts';

const unnotified = systemStatement<SqlRow>(
  'plugins.untold',
  'startup checks the installs of earlier versions',
  `SELECT workspace_id, ${installModel.select} FROM plugins WHERE deleted_at IS NULL AND state = 'active' AND state_reason IS NULL`,
);

export async function notifyUnmatched(deps: PluginDeps): Promise<void> {
  for (const row of await deps.services.store.readSystem(unnotified)) {
    const install = installModel.fromRow(row);
    const reason = unmatchedReason(install);
    if (reason === null) continue;
    const scope = scopeOf(String(row.workspace_id));
    const nowMs = deps.clock.nowMs();
    const directory = await deps.directoryOf(scope);
    const items = itemsForAdmins(
      {
        kind: 'plugin_unheard',
        reason: 'plugin',
        title: `The plugin ${install.manifest.name ?? install.pluginId} does not receive all subscribed events`,
        body: reason,
        target: { kind: installModel.name, id: install.id },
      },
      { ids: deps.services.ids, nowMs, directory },
    );
    const changedInstall = installModel.update(install, { stateReason: reason }, nowMs);
    const changes: Change[] = changedInstall ? [changedInstall, ...items] : [];
    const author = systemAuthor(scope, 'plugins', directory);
    await deps.committer.commit(author, changes, [], []);
  }
}
