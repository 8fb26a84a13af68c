// Purges deleted objects after the retention period; until then they can be restored. An object remains
// while a retained row refers to it. The event log does not need the rows. Data stored elsewhere about a
// purged issue is removed soon after.
import { systemStatement, tenantStatement } from '../../platform/store/statement.ts';
import { purgedTimerName } from '../../features/issues/index.ts';
import { remove, type Sweep, why } from './sweeps.ts';
import type { ForgetIssues } from '../../features/plugins/index.ts';
import { forgetInProposals } from '../../features/proposals/index.ts';
import { timerOp, type DueTimer } from '../../kernel/event-reactions/due-timers.ts';
import { tenantOp } from '../../platform/store/store.ts';

/** Objects per step: each may have many dependent rows. */
const issuesAtOnce = 50;
const rows = 250;

/** Deleted issues without sub-issues. A parent is removed after its sub-issues. */
const goneIssues = `SELECT i.workspace_id, i.id, i.created_at FROM issues AS i WHERE i.deleted_at <= :before AND NOT EXISTS
  (SELECT 1 FROM issues AS s WHERE s.workspace_id = i.workspace_id AND s.parent_id = i.id) ORDER BY i.deleted_at LIMIT ${issuesAtOnce}`;

const withoutReplies = `NOT EXISTS (SELECT 1 FROM comments AS r WHERE r.workspace_id = c.workspace_id AND r.parent_id = c.id)`;

/** Key columns of the tables whose rows belong to an issue and are removed with it. */
const partsOfIssues: Readonly<Record<string, string>> = {
  attachments: 'id',
  issue_labels: 'issue_id, label_id',
  reactions: 'id',
  subscribers: 'id',
  inbox_items: 'id',
  release_issues: 'release_id, issue_id',
  sla_clocks: 'id',
  board_cards: 'board_id, issue_id',
  agent_issues: 'issue_id',
};
const removeParts = Object.entries(partsOfIssues).map(([table, columns]) =>
  remove(
    `${table}.sweep_of_issues`,
    table,
    `SELECT r.workspace_id, ${columns.replaceAll(/\w+/g, 'r.$&')} FROM (${goneIssues}) AS gone CROSS JOIN ${table} AS r
       ON r.workspace_id = gone.workspace_id AND r.issue_id = gone.id`,
    `workspace_id, ${columns}`,
  ),
);
const without = (table: string, column = 'issue_id'): string =>
  `NOT EXISTS (SELECT 1 FROM ${table} AS r WHERE r.workspace_id = gone.workspace_id AND r.${column} = gone.id)`;
const withoutParts = [...Object.keys(partsOfIssues), 'comments', 'relations'].map((table) => without(table));

/** Statements that record purged issues, so that data stored elsewhere about them is removed too. */
const noteGone = [
  systemStatement(
    'former_identifiers.note_gone',
    why,
    `INSERT OR IGNORE INTO former_identifiers (workspace_id, team_id, number, issue_id)
     SELECT i.workspace_id, i.team_id, i.number, i.id FROM (${goneIssues}) AS gone CROSS JOIN issues AS i
       ON i.workspace_id = gone.workspace_id AND i.id = gone.id`,
  ),
  systemStatement(
    'purged_issues.note',
    why,
    `INSERT OR IGNORE INTO purged_issues (workspace_id, id, created_at) SELECT workspace_id, id, created_at FROM (${goneIssues})`,
  ),
  systemStatement(
    'purged_issues.set_timer',
    why,
    `INSERT OR IGNORE INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
     SELECT DISTINCT workspace_id, '${purgedTimerName}/' || workspace_id, '${purgedTimerName}', '${purgedTimerName}', created_at, 0, NULL, 1
     FROM (${goneIssues})`,
  ),
];

/** Deleted endpoints without deliveries and replays. */
const goneEndpoints = `SELECT e.workspace_id, e.id FROM endpoints AS e WHERE e.deleted_at <= :before
  AND NOT EXISTS (SELECT 1 FROM deliveries AS d WHERE d.workspace_id = e.workspace_id AND d.endpoint_id = e.id)
  AND NOT EXISTS (SELECT 1 FROM replays AS r WHERE r.workspace_id = e.workspace_id AND r.endpoint_id = e.id)`;

const sweep = (removals: Sweep['removals']): Sweep => ({ retainedFor: 'deleted', removals, rows });

const removeDeleted = (table: string): Sweep['removals'][number] =>
  remove(`${table}.sweep`, table, `SELECT workspace_id, id FROM ${table} WHERE deleted_at <= :before`);

export const tombstones: readonly Sweep[] = [
  sweep([removeDeleted('attachments')]),
  sweep([
    removeDeleted('reactions'),
    remove(
      'reactions.sweep_of_comments',
      'reactions',
      `SELECT r.workspace_id, r.id FROM comments AS c CROSS JOIN reactions AS r INDEXED BY reactions_one
         ON r.workspace_id = c.workspace_id AND r.subject_id = c.id AND r.deleted_at IS NULL WHERE c.deleted_at <= :before`,
    ),
  ]),
  sweep([
    remove(
      'inbox_items.sweep',
      'inbox_items',
      'SELECT workspace_id, id FROM inbox_items WHERE archived_at <= :before',
    ),
  ]),
  sweep([
    remove(
      'comments.sweep',
      'comments',
      `SELECT c.workspace_id, c.id FROM comments AS c WHERE c.deleted_at <= :before AND ${withoutReplies}`,
    ),
  ]),
  {
    ...sweep([
      remove(
        'comments.sweep_of_issues',
        'comments',
        `SELECT c.workspace_id, c.id FROM (${goneIssues}) AS gone CROSS JOIN comments AS c
         ON c.workspace_id = gone.workspace_id AND c.issue_id = gone.id WHERE ${withoutReplies}`,
      ),
      remove(
        'relations.sweep_of_issues',
        'relations',
        `SELECT r.workspace_id, r.id FROM (${goneIssues}) AS gone CROSS JOIN relations AS r
         ON r.workspace_id = gone.workspace_id AND (r.from_id = gone.id OR r.issue_id = gone.id)`,
      ),
      ...removeParts,
      remove(
        'order_versions.sweep_of_issues',
        'order_versions',
        `SELECT o.workspace_id, o.id FROM (${goneIssues}) AS gone CROSS JOIN order_versions AS o
         ON o.workspace_id = gone.workspace_id AND o.id = gone.id`,
      ),
      remove(
        'issues.sweep',
        'issues',
        `SELECT gone.workspace_id, gone.id FROM (${goneIssues}) AS gone
       WHERE ${[...withoutParts, without('relations', 'from_id'), without('order_versions', 'id')].join(' AND ')}`,
      ),
    ]),
    notes: noteGone,
  },
  sweep([removeDeleted('project_updates')]),
  sweep([removeDeleted('milestones')]),
  sweep([
    remove(
      'release_issues.sweep_of_releases',
      'release_issues',
      `SELECT i.workspace_id, i.release_id, i.issue_id FROM releases AS r CROSS JOIN release_issues AS i
         ON i.workspace_id = r.workspace_id AND i.release_id = r.id WHERE r.deleted_at <= :before`,
      'workspace_id, release_id, issue_id',
    ),
    remove(
      'releases.sweep',
      'releases',
      `SELECT r.workspace_id, r.id FROM releases AS r WHERE r.deleted_at <= :before
         AND NOT EXISTS (SELECT 1 FROM release_issues AS i WHERE i.workspace_id = r.workspace_id AND i.release_id = r.id)`,
    ),
    remove(
      'pipelines.sweep',
      'pipelines',
      `SELECT p.workspace_id, p.id FROM pipelines AS p WHERE p.deleted_at <= :before
         AND NOT EXISTS (SELECT 1 FROM releases AS r WHERE r.workspace_id = p.workspace_id AND r.pipeline_id = p.id)`,
    ),
  ]),
  sweep([removeDeleted('relations')]),
  sweep([removeDeleted('templates')]),
  sweep([
    remove(
      'board_cards.sweep_of_boards',
      'board_cards',
      `SELECT c.workspace_id, c.board_id, c.issue_id FROM boards AS b CROSS JOIN board_cards AS c
         ON c.workspace_id = b.workspace_id AND c.board_id = b.id WHERE b.deleted_at <= :before`,
      'workspace_id, board_id, issue_id',
    ),
    remove(
      'order_versions.sweep_of_boards',
      'order_versions',
      `SELECT o.workspace_id, o.id FROM boards AS b CROSS JOIN order_versions AS o
         ON o.workspace_id = b.workspace_id AND o.id = b.id WHERE b.deleted_at <= :before`,
    ),
    remove(
      'boards.sweep',
      'boards',
      `SELECT b.workspace_id, b.id FROM boards AS b WHERE b.deleted_at <= :before
         AND NOT EXISTS (SELECT 1 FROM board_cards AS c WHERE c.workspace_id = b.workspace_id AND c.board_id = b.id)
         AND NOT EXISTS (SELECT 1 FROM order_versions AS o WHERE o.workspace_id = b.workspace_id AND o.id = b.id)`,
    ),
  ]),
  sweep([removeDeleted('views')]),
  sweep([
    remove(
      'issue_labels.sweep_of_labels',
      'issue_labels',
      `SELECT il.workspace_id, il.issue_id, il.label_id FROM labels AS l CROSS JOIN issue_labels AS il
         ON il.workspace_id = l.workspace_id AND il.label_id = l.id WHERE l.deleted_at <= :before`,
      'workspace_id, issue_id, label_id',
    ),
    remove(
      'labels.sweep',
      'labels',
      `SELECT l.workspace_id, l.id FROM labels AS l WHERE l.deleted_at <= :before
         AND NOT EXISTS (SELECT 1 FROM issue_labels AS il WHERE il.workspace_id = l.workspace_id AND il.label_id = l.id)`,
    ),
  ]),
  sweep([
    remove(
      'plugins.sweep',
      'plugins',
      `SELECT p.workspace_id, p.id FROM plugins AS p WHERE p.deleted_at <= :before
         AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.workspace_id = p.workspace_id AND r.install_id = p.id)
         AND NOT EXISTS (SELECT 1 FROM plugin_kv AS k WHERE k.workspace_id = p.workspace_id AND k.install_id = p.id)
         AND NOT EXISTS (SELECT 1 FROM plugin_kv_usage AS u WHERE u.workspace_id = p.workspace_id AND u.id = p.id)
         AND NOT EXISTS (SELECT 1 FROM plugin_backfills AS g WHERE g.workspace_id = p.workspace_id AND g.install_id = p.id)
         AND NOT EXISTS (SELECT 1 FROM plugin_versions AS v WHERE v.workspace_id = p.workspace_id AND v.install_id = p.id)
         AND NOT EXISTS (SELECT 1 FROM plugin_scope_use AS s WHERE s.workspace_id = p.workspace_id AND s.install_id = p.id)`,
    ),
  ]),
  sweep([
    remove('endpoint_health.sweep', 'endpoint_health', goneEndpoints),
    remove('endpoints.sweep', 'endpoints', goneEndpoints),
  ]),
  sweep([
    remove(
      'api_keys.sweep',
      'api_keys',
      'SELECT workspace_id, id FROM api_keys WHERE revoked_at <= :before OR expires_at <= :before',
    ),
  ]),
  sweep([
    remove('grants.sweep', 'grants', 'SELECT workspace_id, id FROM grants WHERE revoked_at <= :before'),
  ]),
  sweep([removeDeleted('oauth_apps')]),
];

/** Time until the second removal, longer than any attempt of a run. */
const againMs = 15 * 60_000;

/** Maximum number of issues handled at once. */
const purgedAtOnce = 1_000;

const due = tenantStatement<{ id: string; created_at: number; recheck_at: number }>(
  'purged_issues.due',
  `SELECT id, created_at, recheck_at FROM purged_issues WHERE workspace_id = :ws AND recheck_at <= :now
   ORDER BY recheck_at, id LIMIT ${purgedAtOnce}`,
);
const next = tenantStatement<{ at: number | null }>(
  'purged_issues.next',
  'SELECT min(recheck_at) AS at FROM purged_issues WHERE workspace_id = :ws AND recheck_at > :now',
);
const putOff = tenantStatement(
  'purged_issues.put_off',
  'UPDATE purged_issues SET recheck_at = :at WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))',
);
const done = tenantStatement(
  'purged_issues.done',
  'DELETE FROM purged_issues WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))',
);

/**
 * Removes stored data about a purged issue: soon after the purge, and again after work that was in progress at the purge
 * has ended.
 */
export function createPurgedTimer(forgetIssues: ForgetIssues): DueTimer {
  return {
    name: purgedTimerName,
    // Only a purge has the same object before and after the change.
    isSetBy: ({ kind, before, after }) => kind === 'issue' && before === after,
    async fire(ctx, workspaceId) {
      const now = ctx.nowMs();
      const rows = await ctx.store.read(ctx.scope, due, { now });
      const later = (await ctx.store.readOne(ctx.scope, next, { now }))?.at ?? null;
      const ids = new Set(rows.map(({ id }) => id));
      const again = rows.filter(({ recheck_at: at }) => at === 0);
      const over = rows.filter(({ recheck_at: at }) => at > 0);
      if (ids.size > 0)
        await forgetIssues(ctx.scope, { ids, sinceMs: Math.min(...rows.map((row) => row.created_at)) });
      const { changes, ops } = await forgetInProposals(ctx, ids);
      const at = now + againMs;
      const moments = [
        ...(rows.length === purgedAtOnce ? [now] : []),
        ...(later === null ? [] : [later]),
        ...(again.length > 0 ? [at] : []),
      ];
      return {
        changes,
        ops: [
          ...ops,
          tenantOp(ctx.scope, putOff, { at, ids: idsOf(again) }),
          tenantOp(ctx.scope, done, { ids: idsOf(over) }),
          ...(moments.length > 0
            ? [timerOp(ctx.scope, purgedTimerName, workspaceId, Math.min(...moments))]
            : []),
        ],
      };
    },
  };
}

const idsOf = (rows: readonly { readonly id: string }[]): string => JSON.stringify(rows.map(({ id }) => id));
