// Disables installs whose `engines` range excludes this server version, and enables disabled ones whose range
// includes it. The check runs once at startup.
import { systemAuthor } from '../../../../kernel/changes/commit.ts';
import { itemsForAdmins } from '../../../inbox/index.ts';
import { systemStatement, type SqlRow } from '../../../../platform/store/statement.ts';
import { scopeOf, type Scope } from '../../../../platform/store/store.ts';
import type { PluginDeps } from '../../deps.ts';
import type { StateOps } from '../disable.ts';
import { fitsServer } from './check.ts';
import { unmatchedReason } from './matching-types.ts';
import { installModel, type Install } from '../schema.ts';

const running = systemStatement<SqlRow>(
  'plugins.to_fit',
  'startup checks the installs of all workspaces',
  `SELECT workspace_id, ${installModel.select} FROM plugins WHERE deleted_at IS NULL AND state IN ('active', 'incompatible')`,
);

export async function checkEngines(deps: PluginDeps, stateOps: StateOps): Promise<void> {
  for (const row of await deps.services.store.readSystem(running)) {
    const install = installModel.fromRow(row);
    const fits = fitsServer(install.manifest, deps.serverVersion);
    if (fits !== (install.state === 'active'))
      await move(deps, stateOps, scopeOf(String(row.workspace_id)), install, fits);
  }
}

async function move(
  deps: PluginDeps,
  stateOps: StateOps,
  scope: Scope,
  install: Install,
  fits: boolean,
): Promise<void> {
  const { manifest, pluginId, id } = install;
  const nowMs = deps.clock.nowMs();
  const directory = await deps.directoryOf(scope);
  const reason = `The plugin requires Tatami ${manifest.engines.tatami}, but this server is ${deps.serverVersion}.`;
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
  const items = fits ? [] : itemsForAdmins(note, { ids: deps.services.ids, nowMs, directory });
  const ops = stateOps(change.after, { scope });
  await deps.committer.commit(systemAuthor(scope, 'plugins', directory), [change, ...items], [], ops);
}
