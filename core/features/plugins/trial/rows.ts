// Stores the request, code, status and report of backtests and gates, and one shadow per install. The code is
// stored until the trial has ended.
import { systemStatement, tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import type { EventWindow } from './engine.ts';
import { emptyReport, type ShadowReport, type StoppedBy } from './schema.ts';
import type { RequestedVersion } from './versions.ts';

type BacktestStatus = 'queued' | 'running' | 'done' | 'canceled' | 'failed';

export interface BacktestRow {
  readonly id: string;
  readonly kind: 'backtest' | 'gate';
  readonly install_id: string | null;
  readonly plugin_id: string;
  readonly plugin_version: string;
  readonly status: BacktestStatus;
  readonly starts: number;
  readonly request_json: string;
  readonly report_json: string | null;
  readonly error: string | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
}

/** `installId` is the id of the install, or a new id if the plugin is not installed. */
export interface RequestedCode {
  readonly installId: string;
  /** One version for a backtest; for a gate, the installed version and then the other one. */
  readonly versions: readonly RequestedVersion[];
}

export interface BacktestRequest {
  readonly grant: readonly string[];
  /** Number of past runs that a gate compares; null for a backtest. */
  readonly runs: number | null;
  readonly window: EventWindow;
}

export const backtestColumns = `id, kind, install_id, plugin_id, plugin_version, status, starts, request_json, error, created_at,
  started_at, finished_at`;

const insert = tenantStatement(
  'backtests.insert',
  `INSERT INTO backtests (workspace_id, id, kind, install_id, plugin_id, plugin_version, status, request_json, package_json, created_at)
   VALUES (:ws, :id, :kind, :installId, :pluginId, :pluginVersion, 'queued', :asked, :package, :now)`,
);
export const findBacktest = tenantStatement<BacktestRow>(
  'backtests.find',
  `SELECT ${backtestColumns}, report_json FROM backtests WHERE workspace_id = :ws AND id = :id`,
);
export const codeOfBacktest = tenantStatement<{ package_json: string | null }>(
  'backtests.code',
  'SELECT package_json FROM backtests WHERE workspace_id = :ws AND id = :id',
);
export const openBacktests = tenantStatement<{ count: number }>(
  'backtests.open',
  `SELECT count(*) AS count FROM backtests INDEXED BY backtests_open
   WHERE workspace_id = :ws AND finished_at IS NULL AND plugin_id <> 'automations'`,
);
const start = tenantStatement(
  'backtests.start',
  `UPDATE backtests SET status = 'running', starts = starts + 1, started_at = coalesce(started_at, :now)
   WHERE workspace_id = :ws AND id = :id AND status IN ('queued', 'running')`,
);
const end = tenantStatement(
  'backtests.end',
  `UPDATE backtests SET status = :status, report_json = :report, error = :error, finished_at = :now, package_json = NULL
   WHERE workspace_id = :ws AND id = :id AND status IN ('queued', 'running')`,
);

export function insertBacktestOp(scope: Scope, row: BacktestRow, code: RequestedCode): Op {
  return tenantOp(scope, insert, {
    id: row.id,
    kind: row.kind,
    installId: row.install_id,
    pluginId: row.plugin_id,
    pluginVersion: row.plugin_version,
    asked: row.request_json,
    package: JSON.stringify(code),
    now: row.created_at,
  });
}

export function startBacktestOp(scope: Scope, id: string, now: number): Op {
  return tenantOp(scope, start, { id, now }, { expectRows: 1 });
}

export function endBacktestOp(
  scope: Scope,
  id: string,
  { status, report = null, error = null, now }: BacktestEnd,
): Op {
  const params = { id, status, report: report && JSON.stringify(report), error, now };
  return tenantOp(scope, end, params, { expectRows: 1 });
}

const endOfRule = tenantStatement(
  'automations.backtest_ended',
  `UPDATE automations SET backtest_json = json_object('id', :id, 'status', :status)
   WHERE workspace_id = :ws AND id = :automationId AND json_extract(backtest_json, '$.id') = :id`,
);

/** Stores the status of an ended backtest in its automation. */
export function endOfRuleOp(scope: Scope, row: BacktestRow, status: BacktestStatus): Op {
  return tenantOp(scope, endOfRule, { id: row.id, automationId: row.install_id, status });
}

interface BacktestEnd {
  readonly status: 'done' | 'canceled' | 'failed';
  readonly report?: object | null;
  readonly error?: string | null;
  readonly now: number;
}

export interface ShadowRow {
  readonly workspace_id: string;
  readonly install_id: string;
  readonly plugin_version: string;
  /** Hash of the installed code that the shadow is compared with. */
  readonly installed_sha256: string;
  readonly stopped_by: StoppedBy | null;
  readonly report_json: string;
  readonly started_at: number;
  readonly stopped_at: number | null;
}

const shadowColumns =
  'workspace_id, install_id, plugin_version, installed_sha256, stopped_by, report_json, started_at, stopped_at';

export const findShadow = tenantStatement<ShadowRow>(
  'shadows.find',
  `SELECT ${shadowColumns} FROM shadows WHERE workspace_id = :ws AND install_id = :installId`,
);
export const runningShadows = tenantStatement<{ count: number }>(
  'shadows.running',
  'SELECT count(*) AS count FROM shadows INDEXED BY shadows_running WHERE workspace_id = :ws AND stopped_at IS NULL',
);
export const allRunningShadows = systemStatement<ShadowRow & { package_json: string; sha256: string | null }>(
  'shadows.all_running',
  'startup resumes the shadows of all workspaces',
  `SELECT ${shadowColumns
    .split(', ')
    .map((name) => `s.${name}`)
    .join(', ')}, s.package_json, p.sha256
   FROM shadows AS s LEFT JOIN plugins AS p ON p.workspace_id = s.workspace_id AND p.id = s.install_id AND p.deleted_at IS NULL
   WHERE s.stopped_at IS NULL`,
);
export const valuesOfInstall = tenantStatement<{ key: string; value_json: string }>(
  'shadows.values',
  'SELECT key, value_json FROM plugin_kv INDEXED BY plugin_kv_key WHERE workspace_id = :ws AND install_id = :installId AND value_json IS NOT NULL',
);
/** Inserts a shadow or replaces a stopped one; changes no row if one is running. */
const beginShadow = tenantStatement(
  'shadows.begin',
  `INSERT INTO shadows (workspace_id, install_id, plugin_version, installed_sha256, package_json, report_json, started_at)
   VALUES (:ws, :installId, :version, :beside, :package, :report, :now)
   ON CONFLICT (workspace_id, install_id) DO UPDATE SET plugin_version = :version, installed_sha256 = :beside, stopped_by = NULL,
     package_json = :package, report_json = :report, started_at = :now, stopped_at = NULL WHERE stopped_at IS NOT NULL`,
);
const storeShadow = tenantStatement(
  'shadows.store',
  `UPDATE shadows SET report_json = :report
   WHERE workspace_id = :ws AND install_id = :installId AND started_at = :startedAt AND stopped_at IS NULL`,
);
const stopShadow = tenantStatement(
  'shadows.stop',
  `UPDATE shadows SET stopped_by = :by, stopped_at = :now, package_json = NULL, report_json = coalesce(:report, report_json)
   WHERE workspace_id = :ws AND install_id = :installId AND stopped_at IS NULL`,
);

export function beginShadowOp(scope: Scope, row: ShadowRow, version: RequestedVersion): Op {
  const params = {
    installId: row.install_id,
    version: row.plugin_version,
    beside: row.installed_sha256,
    package: JSON.stringify(version),
    report: JSON.stringify(emptyReport),
    now: row.started_at,
  };
  return tenantOp(scope, beginShadow, params, { expectRows: 1 });
}

export function storeShadowOp(
  scope: Scope,
  { install_id: installId, started_at: startedAt }: ShadowRow,
  report: ShadowReport,
): Op {
  return tenantOp(scope, storeShadow, { installId, startedAt, report: JSON.stringify(report) });
}

interface ShadowStop {
  readonly by: StoppedBy;
  readonly now: number;
  /** Null to retain the stored report. */
  readonly report: ShadowReport | null;
}

export function stopShadowOp(scope: Scope, installId: string, { by, now, report }: ShadowStop): Op {
  return tenantOp(scope, stopShadow, { installId, by, now, report: report && JSON.stringify(report) });
}
