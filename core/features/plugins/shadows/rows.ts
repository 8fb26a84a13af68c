// Stores shadows: one row per install with its report; the code is stored while the shadow runs.
import { systemStatement, tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import type { RequestedVersion } from '../backtests/backtests.ts';
import { emptyReport, type ShadowReport, type StoppedBy } from './report.ts';

export interface ShadowRow {
  readonly workspace_id: string;
  readonly install_id: string;
  readonly plugin_version: string;
  /** Hash of the installed code that the shadow is compared with. */
  readonly beside_sha256: string;
  readonly stopped_by: StoppedBy | null;
  readonly report_json: string;
  readonly started_at: number;
  readonly stopped_at: number | null;
}

const columns =
  'workspace_id, install_id, plugin_version, beside_sha256, stopped_by, report_json, started_at, stopped_at';

export const findShadow = tenantStatement<ShadowRow>(
  'shadows.find',
  `SELECT ${columns} FROM shadows WHERE workspace_id = :ws AND install_id = :installId`,
);
export const runningShadows = tenantStatement<{ count: number }>(
  'shadows.running',
  'SELECT count(*) AS count FROM shadows INDEXED BY shadows_running WHERE workspace_id = :ws AND stopped_at IS NULL',
);
export const allRunningShadows = systemStatement<ShadowRow & { package_json: string; sha256: string | null }>(
  'shadows.all_running',
  'startup resumes the shadows of all workspaces',
  `SELECT ${columns
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
const begin = tenantStatement(
  'shadows.begin',
  `INSERT INTO shadows (workspace_id, install_id, plugin_version, beside_sha256, package_json, report_json, started_at)
   VALUES (:ws, :installId, :version, :beside, :package, :report, :now)
   ON CONFLICT (workspace_id, install_id) DO UPDATE SET plugin_version = :version, beside_sha256 = :beside, stopped_by = NULL,
     package_json = :package, report_json = :report, started_at = :now, stopped_at = NULL WHERE stopped_at IS NOT NULL`,
);
const storeReport = tenantStatement(
  'shadows.keep',
  `UPDATE shadows SET report_json = :report
   WHERE workspace_id = :ws AND install_id = :installId AND started_at = :startedAt AND stopped_at IS NULL`,
);
const stop = tenantStatement(
  'shadows.stop',
  `UPDATE shadows SET stopped_by = :by, stopped_at = :now, package_json = NULL, report_json = coalesce(:report, report_json)
   WHERE workspace_id = :ws AND install_id = :installId AND stopped_at IS NULL`,
);

export function beginShadowOp(scope: Scope, row: ShadowRow, version: RequestedVersion): Op {
  const params = {
    installId: row.install_id,
    version: row.plugin_version,
    beside: row.beside_sha256,
    package: JSON.stringify(version),
    report: JSON.stringify(emptyReport),
    now: row.started_at,
  };
  return tenantOp(scope, begin, params, { expectRows: 1 });
}

export function storeShadowOp(
  scope: Scope,
  { install_id: installId, started_at: startedAt }: ShadowRow,
  report: ShadowReport,
): Op {
  return tenantOp(scope, storeReport, { installId, startedAt, report: JSON.stringify(report) });
}

interface Stopped {
  readonly by: StoppedBy;
  readonly now: number;
  /** Null to retain the stored report. */
  readonly report: ShadowReport | null;
}

export function stopShadowOp(scope: Scope, installId: string, { by, now, report }: Stopped): Op {
  return tenantOp(scope, stop, { installId, by, now, report: report && JSON.stringify(report) });
}
