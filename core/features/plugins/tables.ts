// Tables of plugins, their versions, values and runs.
import { changesWithout } from './undo/packed-changes.ts';
import type { RunStatus } from './contract.ts';
import { defineTable } from '../../kernel/table/define.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import { plugin } from './installs/contract.ts';
import { withoutEntriesIn } from './forget.ts';

const again = { not: 'plugins are installed again, with consent on the new server' };
const notWork = { not: 'it is work of the exporting server' };
const numbers = { none: 'ids, numbers and times' };
const partly = 'events show it in part, or with a wording that depends on the release';
const hidden = 'internal state, which no request shows';

export const pluginTable = defineTable('plugins', {
  contract: plugin,
  owner: 'workspace',
  retention: { days: 'deleted', since: 'deleted_at' },
  exported: again,
  log: 'own',
  quotes: { none: 'settings and the manifest' },
  unlogged: {
    manifest_json: partly,
    pending_json: partly,
    offered_json: hidden,
    since_sequence: hidden,
    probation_left: 'changes with the runs, without an event of its object',
  },
});

export const pluginCodeTable = defineTable('plugin_code', {
  owner: 'workspace',
  retention: {
    days: null,
    when: [
      `NOT EXISTS (SELECT 1 FROM plugins AS p WHERE p.workspace_id = t.workspace_id AND p.sha256 = t.id
         AND (p.deleted_at IS NULL OR p.deleted_at > :before))
       AND NOT EXISTS (SELECT 1 FROM plugin_versions AS v WHERE v.workspace_id = t.workspace_id AND v.sha256 = t.id)
       AND NOT EXISTS (SELECT 1 FROM plugins AS p WHERE p.workspace_id = t.workspace_id AND p.deleted_at IS NULL
         AND json_extract(p.pending_json, '$.sha256') = t.id)`,
    ],
  },
  exported: again,
  isLarge: true,
  log: { local: 'code of a package' },
  quotes: { none: 'code' },
});

export const pluginVersionTable = defineTable('plugin_versions', {
  owner: { plugins: 'install_id' },
  retention: { untilDeleted: 'plugins' },
  exported: again,
  isLarge: true,
  log: { local: 'earlier versions, of which events show the current one' },
  quotes: { none: 'settings and the manifest' },
});

export const pluginSecretTable = defineTable('plugin_secrets', {
  owner: { plugins: 'install_id' },
  retention: { bound: 'each is removed with its install' },
  exported: again,
  log: { local: 'secrets' },
  quotes: { none: 'secrets' },
});

export const pluginKvTable = defineTable('plugin_kv', {
  owner: { plugins: 'install_id', automations: 'install_id' },
  retention: { untilDeleted: ['plugins', 'automations'] },
  exported: again,
  isLarge: true,
  log: { local: 'values of a plugin' },
  quotes: { stays: 'values belong to the plugin, which removes what it stored' },
});

export const pluginKvUsageTable = defineTable('plugin_kv_usage', {
  owner: { plugins: 'id', automations: 'id' },
  retention: { untilDeleted: ['plugins', 'automations'] },
  exported: again,
  log: 'derived',
  derived: [
    {
      columns: ['id', 'keys'],
      what: 'plugins have another number of keys than their stored values',
      sql: `FROM plugin_kv_usage AS t WHERE t.keys <> (SELECT count(*) FROM plugin_kv AS k
        WHERE k.workspace_id = t.workspace_id AND k.install_id = t.id)
        AND EXISTS (SELECT 1 FROM plugins AS p WHERE p.workspace_id = t.workspace_id AND p.id = t.id AND p.deleted_at IS NULL
          UNION ALL SELECT 1 FROM automations AS a WHERE a.workspace_id = t.workspace_id AND a.id = t.id AND a.deleted_at IS NULL)`,
    },
  ],
  unlogged: { bytes: hidden, version: hidden, changes: hidden },
  quotes: numbers,
});

export const pluginUsageTable = defineTable('plugin_usage', {
  owner: 'workspace',
  retention: { days: 'deliveries', when: ['(t.day + 1) * 86400000 <= :before'] },
  exported: again,
  log: { local: 'counted work' },
  quotes: numbers,
});

export const pluginScopeUseTable = defineTable('plugin_scope_use', {
  owner: { plugins: 'install_id', automations: 'install_id' },
  retention: { untilDeleted: ['plugins', 'automations'] },
  exported: again,
  log: { local: 'counted work' },
  quotes: numbers,
});

export const pluginBackfillTable = defineTable('plugin_backfills', {
  owner: 'workspace',
  retains: { plugins: 'install_id', automations: 'install_id' },
  retention: { days: 'deliveries', since: 'finished_at' },
  exported: again,
  log: { local: 'work of the server' },
  quotes: numbers,
}).typed<{ cause: 'system' | 'person'; status: 'off' | 'counting' | 'offered' | 'running' | 'done' }>();

export const oneTimeJobTable = defineTable('one_time_jobs', {
  owner: { plugins: 'install_id', automations: 'install_id' },
  retention: {
    bound: 'each is removed when it is due or its plugin is removed; at most 1,000 for each plugin',
  },
  exported: again,
  log: { local: 'work of a plugin' },
  quotes: { stays: 'values belong to the plugin, and end when the job is due' },
});

export const pluginRouteTable = defineTable('plugin_routes', {
  owner: { plugins: 'install_id', automations: 'install_id' },
  retention: { bound: 'one for each route of a plugin, removed with the plugin' },
  exported: again,
  log: { local: 'settings and secrets' },
  quotes: { none: 'settings and secrets' },
});

export const routeSignatureTable = defineTable('route_signatures', {
  owner: 'workspace',
  retention: { bound: 'each expires after ten minutes' },
  exported: again,
  log: { local: 'signatures of ten minutes' },
  quotes: { none: 'signatures' },
});

/** Stored statuses of runs that have not ended. */
const openStatuses = ['queued', 'waiting', 'retrying'] as const satisfies readonly RunStatus[];
/** Condition on the status of a run that has not ended; that of the index `runs_open`. */
export const openRun = `status IN (${openStatuses.map((one) => `'${one}'`).join(', ')})`;
export const isOpenStatus = (status: RunStatus): boolean =>
  status === 'running' || (openStatuses as readonly RunStatus[]).includes(status);

export const runTable = defineTable('runs', {
  owner: 'workspace',
  retains: { plugins: 'install_id', automations: 'install_id' },
  idPrefix: idPrefixes.run,
  retention: { days: 'runs', since: 'finished_at', byId: true },
  exported: notWork,
  log: { local: 'work of the server' },
  quotes: {
    columns: ['event_id', 'effects_json', 'logs_json', 'result_json', 'input_json', 'error_json'],
    event: 'event_id',
    // A run that read an issue may quote it without its id; the recording has the answer with the id.
    with: 'run_records',
    atOnce: 200,
    sets: {
      effects_json:
        "(SELECT json_group_array(json_remove(value, '$.name', '$.values')) FROM json_each(effects_json))",
      logs_json: "'[]'",
      result_json: 'NULL',
      // A retry needs the input until the run has ended and its proposal is decided; later, it is refused by the JSON null.
      input_json: `CASE WHEN finished_at IS NULL OR EXISTS (SELECT 1 FROM proposals AS p WHERE p.workspace_id = :ws
        AND p.id = runs.proposal_id AND p.status = 'open') THEN input_json ELSE 'null' END`,
      error_json: "json_set(error_json, '$.message', 'The message was removed when the issue was purged.')",
    },
  },
  orphans: [
    {
      what: 'open runs without a work item',
      where: `${openRun} AND NOT EXISTS (SELECT 1 FROM due_work AS w WHERE w.workspace_id = runs.workspace_id AND w.id = runs.id)`,
    },
  ],
});

export const runRecordTable = defineTable('run_records', {
  owner: 'workspace',
  idPrefix: idPrefixes.run,
  retention: { days: 'recordings', since: 'finished_at', byId: true },
  exported: notWork,
  isLarge: true,
  log: { local: 'work of the server' },
  quotes: { columns: ['data'], atOnce: 10 },
});

export const journalTable = defineTable('journal', {
  owner: 'workspace',
  retention: { days: 'runs', since: 'created_at' },
  exported: notWork,
  isLarge: true,
  log: { local: 'work of the server' },
  // Rows stay, so that no request is sent again, and answers stay until the run has ended, because a retry needs them.
  quotes: {
    of: 'runs',
    by: 'run_id',
    where: `NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.workspace_id = :ws AND r.id = journal.run_id AND r.finished_at IS NULL)`,
    sets: { request: "''", response_json: 'NULL' },
  },
});

export const storedChangeTable = defineTable('stored_changes', {
  owner: 'workspace',
  retention: { days: 'undo', since: 'created_at' },
  exported: { not: 'plugins and their runs are not exported, so there is nothing to undo' },
  isLarge: true,
  log: { local: 'values before changes' },
  quotes: {
    columns: ['changes'],
    atOnce: 20,
    // Other changes of the run can still be undone.
    forget: ({ changes }, { ids, isAbout }) => ({
      changes: changesWithout(changes, ({ kind, id, before, after }) =>
        kind === 'issue' ? ids.has(id) : isAbout(JSON.stringify([before, after])),
      ),
    }),
  },
});

export const backtestTable = defineTable('backtests', {
  owner: 'workspace',
  idPrefix: idPrefixes.backtest,
  retention: { days: 'runs', since: 'finished_at' },
  exported: notWork,
  isLarge: true,
  log: { local: 'work of the server' },
  quotes: {
    columns: ['report_json'],
    byEvents: true,
    atOnce: 5,
    forget: ({ report_json: report }, { isAbout }) => ({ report_json: withoutEntriesIn(report, isAbout) }),
  },
});

export const shadowTable = defineTable('shadows', {
  owner: { plugins: 'install_id' },
  retention: { untilDeleted: 'plugins' },
  exported: notWork,
  isLarge: true,
  log: { local: 'work of the server' },
  quotes: {
    columns: ['report_json'],
    byEvents: true,
    atOnce: 5,
    forget: ({ report_json: report }, { isAbout }) => ({ report_json: withoutEntriesIn(report, isAbout) }),
  },
});
