// Stores backtests and gates: the request, the code, the status and the report.
import type { PluginPackage } from '../../../../sdk/plugin/manifest.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import type { BacktestWindow } from './engine.ts';

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

/** The executed parts of a package, without its source map. */
export type Code = Pick<PluginPackage, 'manifest' | 'sha256' | 'code'>;

interface RequestedCodeVersion {
  readonly code: Code;
  readonly grant: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
}

/** `installId` is the id of the install, or a new id if the plugin is not installed. */
export interface RequestedCode {
  readonly installId: string;
  /** One version for a backtest; for a gate, the installed version and then the other one. */
  readonly versions: readonly RequestedCodeVersion[];
}

export interface BacktestRequest {
  readonly grant: readonly string[];
  /** Number of past runs that a gate compares; null for a backtest. */
  readonly runs: number | null;
  readonly window: BacktestWindow;
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
  'SELECT count(*) AS count FROM backtests INDEXED BY backtests_open WHERE workspace_id = :ws AND finished_at IS NULL',
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

interface BacktestEnd {
  readonly status: 'done' | 'canceled' | 'failed';
  readonly report?: object | null;
  readonly error?: string | null;
  readonly now: number;
}
