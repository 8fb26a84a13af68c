// API schemas and rows of shadows: one row per install with its report; the code is stored while the shadow
// runs.
import { Type, type Static } from 'typebox';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import {
  Closed,
  described,
  enumeration,
  idOf,
  namedSchema,
  nullable,
  time,
} from '../../../platform/lib/schema.ts';
import { installSettings, plugin } from '../installs/contract.ts';
import { systemStatement, tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import type { RequestedVersion } from '../backtests/backtests.ts';
import { signatureInput } from '../installs/schema.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const Difference = Closed({
  runId: idOf(idPrefixes.run, 'Id of the run of the installed version.'),
  eventId: idOf(idPrefixes.event, 'Id of the event.'),
  type: Type.String({ description: 'Event type.' }),
  at: described(time, 'Time of the event.'),
  fields: Type.Array(
    Closed({
      object: Type.String({ description: 'Type of the object, with the id of an existing object.' }),
      field: Type.String({
        description: 'Name of the field; `error` of the object `run` if one of the runs failed.',
      }),
      real: Type.Unknown({ description: 'Value set by the installed version; null if it set none.' }),
      shadow: Type.Unknown({ description: 'Value that the shadow would have set; null if none.' }),
    }),
    { description: 'Fields set differently, the first 50.' },
  ),
});

const Report = Closed({
  runs: count('Number of events on which both versions ran.'),
  same: count('Number of events with the same effects in both versions.'),
  different: count('Number of events with different effects.'),
  failed: count('Number of failed runs of the shadow.'),
  dropped: count('Number of runs of the installed version that the shadow skipped because it lagged behind.'),
  cpuMs: Type.Number({ minimum: 0, description: 'CPU time of the shadow, in milliseconds.' }),
  differences: Type.Array(Difference, {
    description: 'Last 100 differences, newest first; empty without the scope `plugins:write`.',
  }),
});
export type ShadowReport = Static<typeof Report>;

export const emptyReport: ShadowReport = {
  runs: 0,
  same: 0,
  different: 0,
  failed: 0,
  dropped: 0,
  cpuMs: 0,
  differences: [],
};

const stoppings = ['asked', 'upgraded', 'removed'] as const;
export type StoppedBy = (typeof stoppings)[number];

export const ShadowResponse = namedSchema(
  'Shadow',
  Closed({
    pluginId: idOf(plugin.id, 'Id of the install.'),
    pluginVersion: Type.String({ description: 'Version of the shadow.' }),
    isRunning: Type.Boolean({ description: 'True while the shadow runs on new events.' }),
    stoppedBy: nullable(
      enumeration(
        'ShadowStop',
        stoppings,
        'Reason of the stop: `asked` by a request, `upgraded` or `removed` with its install; null while running.',
      ),
    ),
    waiting: count('Number of queued runs.'),
    report: described(Report, 'Comparison with the installed version.'),
    startedAt: described(time, 'Time of the start.'),
    stoppedAt: nullable(described(time, 'Time of the stop; null while running.')),
  }),
);

export const ShadowCreate = namedSchema(
  'ShadowCreate',
  Closed({
    package: Type.Object({}, { description: 'Package, as written by `tatami plugin pack`.' }),
    signature: signatureInput,
    settings: Type.Optional(installSettings),
  }),
);

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

const columns =
  'workspace_id, install_id, plugin_version, installed_sha256, stopped_by, report_json, started_at, stopped_at';

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
  `INSERT INTO shadows (workspace_id, install_id, plugin_version, installed_sha256, package_json, report_json, started_at)
   VALUES (:ws, :installId, :version, :beside, :package, :report, :now)
   ON CONFLICT (workspace_id, install_id) DO UPDATE SET plugin_version = :version, installed_sha256 = :beside, stopped_by = NULL,
     package_json = :package, report_json = :report, started_at = :now, stopped_at = NULL WHERE stopped_at IS NOT NULL`,
);
const storeReport = tenantStatement(
  'shadows.store',
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
    beside: row.installed_sha256,
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
