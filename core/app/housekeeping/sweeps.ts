// Removal rules of operational rows: idempotency keys, runs, deliveries, replays, missed events, and data of uninstalled plugins.
import { idPrefixes } from '../../platform/lib/ids.ts';
import { systemStatement, tenantStatement, type Statement } from '../../platform/store/statement.ts';
import type { RetentionSettings } from './retention.ts';

type Removal = Statement<{ removed: number }>;

/** Statements that run as one batch until none of them removes anything. Each removes up to `:limit` rows. */
export interface Sweep {
  /** Setting with the maximum age; null for rows that are removed once they are of no use. */
  readonly retainedFor: keyof RetentionSettings | null;
  /** If set, rows are searched one workspace at a time, by ids that begin with their creation time. */
  readonly byId?: {
    readonly prefix: string;
    /** Finds the first workspace after `:after` with a row to remove. */
    readonly next: Statement<{ workspace_id: string }>;
  };
  /** Statements that record facts about the removed rows, run before the removals in the same batch. */
  readonly notes?: readonly Statement<unknown>[];
  readonly removals: readonly Removal[];
  /** Rows per step; fewer if a row may have megabytes. */
  readonly rows: number;
}

const usualRows = 250;
const longRows = 20;

export const why = 'expired rows are removed in all workspaces';

/** Matches rows that ended before a time. `id < :until` bounds the scan, because an id begins with its creation time. */
const ended = 'id < :until AND finished_at <= :before';
const endedOf = (table: string): string =>
  `SELECT id FROM ${table} WHERE workspace_id = :ws AND ${ended} ORDER BY id LIMIT :limit`;
const nextWith = (table: string): Statement<{ workspace_id: string }> =>
  systemStatement(
    `${table}.sweep_next`,
    why,
    `SELECT w.workspace_id FROM workspaces AS w WHERE w.workspace_id > :after AND EXISTS
       (SELECT 1 FROM ${table} AS t WHERE t.workspace_id = w.workspace_id AND t.id < :until AND t.finished_at <= :before)
     ORDER BY w.workspace_id LIMIT 1`,
  );

/** Removes rows of one workspace. */
const removeOf = (table: string, column: string, of: string): Removal =>
  tenantStatement(
    `${table}.sweep`,
    `DELETE FROM ${table} WHERE workspace_id = :ws AND ${column} IN (${endedOf(of)}) RETURNING 1 AS removed`,
  );

/** Removes rows of all workspaces. @param rows SELECT of their keys */
export const remove = (name: string, table: string, rows: string, key = 'workspace_id, id'): Removal =>
  systemStatement(
    name,
    why,
    `DELETE FROM ${table} WHERE (${key}) IN (${rows} LIMIT :limit) RETURNING 1 AS removed`,
  );

const removeFinished = (table: string): Removal =>
  remove(`${table}.sweep`, table, `SELECT workspace_id, id FROM ${table} WHERE finished_at <= :before`);

/** Removes rows that belong to a removed install. @param install column with the id of the install */
const removeOfRemoved = (table: string, install: string, key = 'id'): Removal =>
  remove(
    `${table}.sweep`,
    table,
    `SELECT t.workspace_id, ${key.replaceAll(/\w+/g, 't.$&')} FROM plugins AS p JOIN ${table} AS t
       ON t.workspace_id = p.workspace_id AND t.${install} = p.id WHERE p.deleted_at <= :before`,
    `workspace_id, ${key}`,
  );

const sweep = (retainedFor: Sweep['retainedFor'], removals: readonly Removal[], rows = usualRows): Sweep => ({
  retainedFor,
  removals,
  rows,
});

export const sweeps: readonly Sweep[] = [
  sweep(null, [
    remove(
      'idempotency.sweep',
      'idempotency',
      'SELECT workspace_id, id FROM idempotency WHERE expires_at <= :before',
    ),
  ]),
  sweep(null, [
    remove(
      'oauth_tokens.sweep',
      'oauth_tokens',
      'SELECT id FROM oauth_tokens WHERE expires_at <= :before',
      'id',
    ),
    remove(
      'challenges.sweep',
      'challenges',
      'SELECT token_hash FROM challenges WHERE expires_at <= :before',
      'token_hash',
    ),
  ]),
  sweep(null, [
    remove('sessions.sweep', 'sessions', 'SELECT id FROM sessions WHERE expires_at <= :before', 'id'),
  ]),
  sweep(null, [
    remove(
      'invitations.sweep',
      'invitations',
      'SELECT workspace_id, member_id FROM invitations WHERE expires_at <= :before',
      'workspace_id, member_id',
    ),
  ]),
  sweep(null, [
    remove(
      'oauth_clients.sweep_unused',
      'oauth_clients',
      'SELECT id FROM oauth_clients WHERE used = 0 AND created_at <= :before - 86400000',
      'id',
    ),
    remove(
      'oauth_clients.sweep',
      'oauth_clients',
      `SELECT c.id FROM oauth_clients AS c WHERE c.used = 1
         AND NOT EXISTS (SELECT 1 FROM grants AS g WHERE g.client_id = c.id)`,
      'id',
    ),
  ]),
  sweep(null, [
    remove(
      'password_resets.sweep',
      'password_resets',
      'SELECT account_id FROM password_resets WHERE expires_at <= :before',
      'account_id',
    ),
  ]),
  {
    ...sweep('runs', [removeOf('runs', 'id', 'runs')]),
    byId: { prefix: idPrefixes.run, next: nextWith('runs') },
  },
  sweep(
    'runs',
    [remove('journal.sweep', 'journal', 'SELECT workspace_id, id FROM journal WHERE created_at <= :before')],
    longRows,
  ),
  {
    ...sweep('recordings', [removeOf('run_records', 'id', 'run_records')], longRows),
    byId: { prefix: idPrefixes.run, next: nextWith('run_records') },
  },
  {
    // Both statements run in one batch, so they select the same deliveries.
    ...sweep('deliveries', [
      removeOf('attempts', 'delivery_id', 'deliveries'),
      removeOf('deliveries', 'id', 'deliveries'),
    ]),
    byId: { prefix: idPrefixes.delivery, next: nextWith('deliveries') },
  },
  sweep(
    'undo',
    [
      remove(
        'stored_changes.sweep',
        'stored_changes',
        'SELECT workspace_id, id FROM stored_changes WHERE created_at <= :before',
      ),
    ],
    longRows,
  ),
  sweep('deliveries', [removeFinished('replays')]),
  sweep('deliveries', [removeFinished('plugin_backfills')]),
  sweep('runs', [
    remove(
      'proposals.sweep',
      'proposals',
      'SELECT workspace_id, id FROM proposals WHERE decided_at <= :before',
    ),
  ]),
  sweep('runs', [removeFinished('backtests')], longRows),
  sweep(null, [removeOfRemoved('plugin_kv', 'install_id')], longRows),
  sweep(null, [removeOfRemoved('plugin_kv_usage', 'id')]),
  sweep(null, [removeOfRemoved('plugin_versions', 'install_id')], longRows),
  sweep(null, [removeOfRemoved('shadows', 'install_id', 'install_id')], longRows),
  sweep(null, [removeOfRemoved('plugin_scope_use', 'install_id', 'install_id, scope')]),
  sweep('deliveries', [
    remove(
      'plugin_usage.sweep',
      'plugin_usage',
      'SELECT workspace_id, install_id, day FROM plugin_usage WHERE (day + 1) * 86400000 <= :before',
      'workspace_id, install_id, day',
    ),
  ]),
  sweep(
    null,
    [
      remove(
        'plugin_code.sweep',
        'plugin_code',
        `SELECT c.workspace_id, c.id FROM plugin_code AS c WHERE NOT EXISTS
           (SELECT 1 FROM plugins AS p WHERE p.workspace_id = c.workspace_id AND p.sha256 = c.id
              AND (p.deleted_at IS NULL OR p.deleted_at > :before))
           AND NOT EXISTS (SELECT 1 FROM plugin_versions AS v WHERE v.workspace_id = c.workspace_id AND v.sha256 = c.id)
           AND NOT EXISTS (SELECT 1 FROM plugins AS p WHERE p.workspace_id = c.workspace_id AND p.deleted_at IS NULL
             AND json_extract(p.pending_json, '$.sha256') = c.id)`,
      ),
    ],
    longRows,
  ),
];
