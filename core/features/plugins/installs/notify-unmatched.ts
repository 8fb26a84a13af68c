// Notifies admins once of each install that cannot read all subscribed events, because earlier server
// versions delivered events without checking the scope. A notified install has a state reason.
import type { Change } from '../../../kernel/changes/change.ts';
import { systemAuthor, type Committer } from '../../../kernel/changes/commit.ts';
import type { Directory } from '../../../kernel/context.ts';
import { itemsForAdmins } from '../../inbox/items.ts';
import type { Ids } from '../../../platform/lib/ids.ts';
import { systemStatement, type SqlRow } from '../../../platform/store/statement.ts';
import { scopeOf, type Scope, type Store } from '../../../platform/store/store.ts';
import { unmatchedReason } from './versions/matching-types.ts';
import { installModel } from './schema.ts';

const unnotified = systemStatement<SqlRow>(
  'plugins.untold',
  'startup checks the installs of earlier versions',
  `SELECT workspace_id, ${installModel.select} FROM plugins WHERE deleted_at IS NULL AND state = 'active' AND state_reason IS NULL`,
);

export async function notifyUnmatched(options: {
  readonly store: Store;
  readonly committer: Committer;
  readonly ids: Ids;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  nowMs(): number;
}): Promise<void> {
  for (const row of await options.store.readSystem(unnotified)) {
    const install = installModel.fromRow(row);
    const reason = unmatchedReason(install);
    if (reason === null) continue;
    const scope = scopeOf(String(row.workspace_id));
    const nowMs = options.nowMs();
    const directory = await options.directoryOf(scope);
    const items = itemsForAdmins(
      {
        kind: 'plugin_unheard',
        reason: 'plugin',
        title: `The plugin ${install.manifest.name ?? install.pluginId} does not receive all subscribed events`,
        body: reason,
        target: { kind: installModel.name, id: install.id },
      },
      { ids: options.ids, nowMs, directory },
    );
    const changedInstall = installModel.update(install, { stateReason: reason }, nowMs);
    const changes: Change[] = changedInstall ? [changedInstall, ...items] : [];
    const author = systemAuthor(scope, 'plugins', directory);
    await options.committer.commit(author, changes, [], []);
  }
}
