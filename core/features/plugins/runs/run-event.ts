// Builds the event about an ended run: `automation.run` if it did something, `automation.failed` if it failed. See docs/decisions/0064.
import type { Static } from 'typebox';
import { announce, type Change } from '../../../kernel/changes/change.ts';
import { inboxItem } from '../../inbox/contract.ts';
import { proposal } from '../../proposals/contract.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import type { InstallMode } from '../installs/contract.ts';
import type { Install } from '../installs/schema.ts';
import { kvModelName } from '../kv/entries.ts';
import { oneTimeJobModelName } from '../one-time-jobs/entries.ts';
import type { AutomationRun } from './contract.ts';
import { abandonedCode } from './ending/abandoned.ts';
import type { EndedAttempt } from './ending/record.ts';
import type { RunRow } from './rows.ts';

interface PluginName {
  readonly pluginId: string;
  readonly name: string;
}

interface RanBy extends PluginName {
  readonly pluginVersion: string | null;
}

interface FinishedRun extends EndedAttempt {
  readonly run: RunRow;
  readonly status: 'succeeded' | 'dead';
  readonly mode: InstallMode;
  readonly by: RanBy;
  readonly calls: readonly { readonly op: string; readonly ok: boolean }[];
  /** Committed writes. */
  readonly changes: readonly Change[];
}

/**
 * Entities that do not count as an action of the run: stored values and jobs of the plugin, proposals and
 * inbox items.
 */
const beside: ReadonlySet<string> = new Set([
  kvModelName,
  oneTimeJobModelName,
  proposal.name,
  inboxItem.name,
]);

/** Returns the event of an ended run; null if the run emits none. */
export function endedRunEvent(over: FinishedRun): Change | null {
  const { run, status, mode, by, error } = over;
  const did = doneBy(over);
  const isEmitted = status === 'dead' ? isTrueFailure(over) : hasActed(did);
  if (!isEmitted) return null;
  const data: Static<typeof AutomationRun> = {
    runId: run.id,
    installId: run.install_id,
    pluginId: by.pluginId,
    pluginVersion: by.pluginVersion,
    handler: run.handler,
    handlerKind: run.handler_kind,
    eventId: run.event_id,
    mode,
    status,
    attempt: over.attempt,
    ...did,
    errorCode: error?.code ?? null,
  };
  const type = status === 'succeeded' ? 'automation.run' : 'automation.failed';
  return announce({ kind: 'run', id: run.id }, type, data);
}

/** A simulated run has no effects to lose, and a given-up run can be backfilled, so `automation.failed` is emitted for neither of them. */
function isTrueFailure({ mode, error }: FinishedRun): boolean {
  return mode !== 'simulate' && error?.code !== abandonedCode;
}

function hasActed({ changed, fetches, proposalId }: ReturnType<typeof doneBy>): boolean {
  return changed > 0 || fetches > 0 || proposalId !== null;
}

function doneBy({ mode, calls, changes }: FinishedRun) {
  const answered = calls.filter(({ op, ok }) => ok && op === 'net.fetch').length;
  return {
    calls: calls.length,
    changed: changes.filter(({ kind }) => !beside.has(kind)).length,
    // A simulated run sends nothing; its answers come from the journal.
    fetches: mode === 'simulate' ? 0 : answered,
    proposalId: changes.find(({ kind }) => kind === proposal.name)?.id ?? null,
  };
}

const findPlugin = tenantStatement<PluginName>(
  'plugins.of_run',
  `SELECT plugin_id AS pluginId, coalesce(manifest_json->>'name', plugin_id) AS name FROM plugins
   WHERE workspace_id = :ws AND id = :id`,
);

/** Returns the plugin of a run. @param install install at the last attempt; absent without an attempt */
export async function ranBy(store: Store, scope: Scope, run: RunRow, install?: Install): Promise<RanBy> {
  if (install) {
    const { pluginId, pluginVersion, manifest } = install;
    return { pluginId, pluginVersion, name: manifest.name ?? pluginId };
  }
  const { install_id: id } = run;
  const pluginRow = await store.readOne(scope, findPlugin, { id });
  return { ...(pluginRow ?? { pluginId: id, name: id }), pluginVersion: null };
}
