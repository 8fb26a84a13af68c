// Disables installs whose `engines` range excludes this server version, and enables disabled ones whose range
// includes it. The check runs once at startup.
import { systemAuthor, type Committer } from '../../../../kernel/changes/commit.ts';
import type { Directory } from '../../../../kernel/context.ts';
import { itemsForAdmins } from '../../../inbox/items.ts';
import type { Ids } from '../../../../platform/lib/ids.ts';
import { systemStatement, type SqlRow } from '../../../../platform/store/statement.ts';
import { scopeOf, type Op, type Scope, type Store } from '../../../../platform/store/store.ts';
import { fitsServer } from './check.ts';
import { unmatchedReason } from './matching-types.ts';
import { installModel, type Install } from '../schema.ts';

const running = systemStatement<SqlRow>(
  'plugins.to_fit',
  'startup checks the installs of all workspaces',
  `SELECT workspace_id, ${installModel.select} FROM plugins WHERE deleted_at IS NULL AND state IN ('active', 'incompatible')`,
);

interface EnginesOptions {
  readonly store: Store;
  readonly committer: Committer;
  readonly ids: Ids;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly serverVersion: string;
  stateOps(install: Install, at: { readonly scope: Scope }): readonly Op[];
  nowMs(): number;
}

export async function checkEngines(options: EnginesOptions): Promise<void> {
  for (const row of await options.store.readSystem(running)) {
    const install = installModel.fromRow(row);
    const fits = fitsServer(install.manifest, options.serverVersion);
    if (fits !== (install.state === 'active'))
      await move(options, scopeOf(String(row.workspace_id)), install, fits);
  }
}

async function move(options: EnginesOptions, scope: Scope, install: Install, fits: boolean): Promise<void> {
  const { manifest, pluginId, id } = install;
  const nowMs = options.nowMs();
  const directory = await options.directoryOf(scope);
  const reason = `The plugin requires Tatami ${manifest.engines.tatami}, but this server is ${options.serverVersion}.`;
  const patch = fits
    ? { state: 'active' as const, stateReason: unmatchedReason(install) }
    : { state: 'incompatible' as const, stateReason: reason };
  const change = installModel.update(install, patch, nowMs);
  if (!change) return;
  const note = {
    kind: 'plugin_disabled' as const,
    reason: 'plugin' as const,
    title: `The plugin ${manifest.name ?? pluginId} does not run on this version of Tatami`,
    body: `${reason} Install a compatible version. Missed events are counted and can be backfilled.`,
    target: { kind: installModel.name, id },
  };
  const items = fits ? [] : itemsForAdmins(note, { ids: options.ids, nowMs, directory });
  const ops = options.stateOps(change.after, { scope });
  await options.committer.commit(systemAuthor(scope, 'plugins', directory), [change, ...items], [], ops);
}
