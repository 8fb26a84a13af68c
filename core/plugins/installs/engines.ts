// Which installs this server can run: an upgrade of the server may leave the range that a plugin was made for, and a later one may come
// back into it. Looked at once, at the start.
import { systemAuthor, type Committer } from '../../changes/commit.ts';
import type { Directory } from '../../context.ts';
import { itemsForAdmins } from '../../inbox/items.ts';
import type { Ids } from '../../lib/ids.ts';
import { systemStatement, type Row } from '../../store/statement.ts';
import { scopeOf, type Op, type Scope, type Store } from '../../store/store.ts';
import { fitsServer } from './check.ts';
import { unheardReason } from './hearing.ts';
import { installKind, type Install } from './schema.ts';

const running = systemStatement<Row>(
  'plugins.to_fit',
  'installs of all workspaces are looked through at the start of the process',
  `SELECT workspace_id, ${installKind.select} FROM plugins WHERE deleted_at IS NULL AND state IN ('active', 'incompatible')`,
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

/** Switches installs off that are made for other servers, and on again those that fit. */
export async function checkEngines(options: EnginesOptions): Promise<void> {
  for (const row of await options.store.readSystem(running)) {
    const install = installKind.fromRow(row);
    const fits = fitsServer(install.manifest, options.serverVersion);
    if (fits !== (install.state === 'active'))
      await move(options, scopeOf(String(row.workspace_id)), install, fits);
  }
}

async function move(options: EnginesOptions, scope: Scope, install: Install, fits: boolean): Promise<void> {
  const { manifest, pluginId, id } = install;
  const nowMs = options.nowMs();
  const directory = await options.directoryOf(scope);
  const reason = `It is made for Tatami ${manifest.engines.tatami}; this is ${options.serverVersion}.`;
  const patch = fits
    ? { state: 'active' as const, stateReason: unheardReason(install) }
    : { state: 'incompatible' as const, stateReason: reason };
  const change = installKind.update(install, patch, nowMs);
  if (!change) return;
  const note = {
    kind: 'plugin_disabled' as const,
    reason: 'plugin' as const,
    title: `The plugin ${manifest.name ?? pluginId} does not run on this version of Tatami`,
    body: `${reason} Install a version of the plugin that fits. What it misses until then is counted, and run when you ask for it.`,
    target: { kind: installKind.name, id },
  };
  const items = fits ? [] : itemsForAdmins(note, { ids: options.ids, nowMs, directory });
  const ops = options.stateOps(change.after, { scope });
  await options.committer.commit(systemAuthor(scope, 'plugins', directory), [change, ...items], [], ops);
}
