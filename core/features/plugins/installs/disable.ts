// Disables plugins that fail too often or do not fit this version of the server, and notifies the admins of
// the workspace.
import { hourMs } from '../../../platform/lib/time/time.ts';
import { LRUCache } from 'lru-cache';
import { systemAuthor } from '../../../kernel/changes/commit.ts';
import type { Directory } from '../../../kernel/context.ts';
import { adminsOf, itemsFor, itemsForAdmins } from '../../inbox/index.ts';
import { type Op, type Scope, scopeOf } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import { installModel, type Install } from './model.ts';
import { changeOfInstall, nounOf, targetOf } from './rules.ts';
import { systemStatement, type SqlRow } from '../../../platform/store/statement.ts';
import { fitsServer } from './versions/check.ts';
import { unmatchedReason } from './manifest.ts';

const windowMs = hourMs;
/**
 * Limits of run outcomes stored per install and in total. Beyond the total, the least recently updated
 * install loses its counts.
 */
const endingsMax = 1_000;
const trackedEndingsMax = 500_000;
const failedRunsMin = 20;
const failedRatioMax = 0.95;
/**
 * A killed run costs its full limits, a new isolate (3 ms) and a second attempt. One killed run in ten about
 * doubles the cost of a plugin, which is tolerable; a higher share is not accidental. Only the latest runs
 * count, so that a plugin that starts to kill its sandbox after thousands of good runs is disabled after ten
 * kills, not after hundreds.
 */
const killsMin = 3;
const killedRatioMax = 0.1;
const killsAmong = 100;

type DisableReason = {
  readonly state: 'suspended' | 'disabled_failures' | 'disabled_sandbox';
  readonly reason: string;
};

interface RunOutcome {
  readonly failed: boolean;
  readonly killed: boolean;
}

/**
 * Decides when a plugin is disabled: nearly all of its runs fail, or too many have to be killed.
 * docs/spec/plugins.md › Disabling. The counts are in memory only; a restart resets them.
 */
export interface FailureWatch {
  /** Records the outcome of a run. Returns the reason if the plugin must be disabled now, otherwise null. */
  note(installId: string, ending: RunOutcome): DisableReason | null;
  forget(installId: string): void;
}

/** @param trackedMax limit of outcomes stored for all installs together */
export function createFailureWatch(
  nowMs: () => number,
  trackedMax: number = trackedEndingsMax,
): FailureWatch {
  const endings = new LRUCache<string, (RunOutcome & { readonly atMs: number })[]>({
    maxSize: trackedMax,
    sizeCalculation: (ofOne) => ofOne.length,
  });
  return {
    note(installId, { failed, killed }) {
      const now = nowMs();
      const recent = endings.get(installId) ?? [];
      recent.push({ atMs: now, failed, killed });
      while (recent.length > endingsMax || now - recent[0]!.atMs >= windowMs) recent.shift();
      // The cache computes the size only when it inserts a new value, so the entry is deleted first.
      endings.delete(installId);
      endings.set(installId, recent);
      if (!failed) return null;
      const latest = recent.slice(-killsAmong);
      const kills = latest.filter((one) => one.killed).length;
      if (killed && kills >= killsMin && kills >= latest.length * killedRatioMax)
        return {
          state: 'disabled_sandbox',
          reason: `${kills} of the last ${latest.length} runs had to be killed.`,
        };
      const failures = recent.filter((one) => one.failed).length;
      if (recent.length >= failedRunsMin && failures >= recent.length * failedRatioMax)
        return {
          state: 'disabled_failures',
          reason: `${failures} of the last ${recent.length} runs failed.`,
        };
      return null;
    },
    forget: (installId) => void endings.delete(installId),
  };
}

/** Returns the ops that update the rows that depend on the state of an install. */
export type StateOps = (install: Install, at: { readonly scope: Scope }) => readonly Op[];

export type Disable = (scope: Scope, install: Install, why: DisableReason) => Promise<void>;

export function createDisable(deps: PluginDeps, stateOps: StateOps): Disable {
  const { clock, committer } = deps;
  const { ids, log } = deps.services;
  return async (scope, install, { state, reason }) => {
    const changed = changeOfInstall(install, { state, stateReason: reason }, clock.nowMs());
    if (!changed) return;
    const directory = await deps.directoryOf(scope);
    const author = systemAuthor(scope, 'sandbox', directory);
    const at = { ids, nowMs: clock.nowMs() };
    const items = itemsFor(recipientsOf(install, directory), noteOf(install, reason), at);
    const ops = stateOps(changed.after, { scope });
    const committed = await committer.commit(author, [changed.change, ...items], [], ops);
    if (!committed.ok) return;
    log('warn', `${nounOf(install)} disabled`, {
      workspaceId: scope.workspaceId,
      installId: install.id,
      reason,
    });
  };
}

/** Returns the members to notify: the admins, and the owner of an automation. */
export function recipientsOf({ rule }: Install, directory: Directory): string[] {
  const owner = rule?.ownerId ?? null;
  const isPresent = owner !== null && directory.members.get(owner)?.removed === false;
  return [...new Set([...adminsOf(directory), ...(isPresent ? [owner] : [])])];
}

function noteOf(install: Install, reason: string) {
  const name = install.manifest.name ?? install.pluginId;
  const note = { reason: 'plugin' as const, target: targetOf(install) };
  if (install.rule)
    return {
      ...note,
      kind: 'automation_disabled' as const,
      title: `The automation ${name} was disabled`,
      body: `${reason} Check its runs, fix the cause, then enable it again.`,
    };
  return {
    ...note,
    kind: 'plugin_disabled' as const,
    title: `The plugin ${name} was disabled`,
    body: `${reason} Check its runs, fix the cause, then install a new version or enable it again. Missed events are counted and can be backfilled.`,
  };
}

const running = systemStatement<SqlRow>(
  'plugins.to_fit',
  'startup checks the installs of all workspaces',
  `SELECT workspace_id, ${installModel.select} FROM plugins WHERE deleted_at IS NULL AND state IN ('active', 'incompatible')`,
);

/**
 * Disables installs whose `engines` range excludes this server version, and enables disabled ones
 * whose range includes it. Runs once at startup.
 */
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
