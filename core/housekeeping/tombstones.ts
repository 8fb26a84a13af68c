// What people deleted goes for good after a while: until then it can be restored. What something that is kept still refers to stays with it,
// and history is in the event log, which does not need the rows.
import { remove, type Sweep } from './sweeps.ts';

/** Objects in one step: each may have many rows beside it. */
const issuesAtOnce = 50;
const rows = 250;

/** Deleted issues without sub-issues. Those of which the sub-issues go as well go after them. */
const goneIssues = `SELECT i.workspace_id, i.id FROM issues AS i WHERE i.deleted_at <= :before AND NOT EXISTS
  (SELECT 1 FROM issues AS s WHERE s.workspace_id = i.workspace_id AND s.parent_id = i.id) ORDER BY i.deleted_at LIMIT ${issuesAtOnce}`;

const withoutReplies = `NOT EXISTS (SELECT 1 FROM comments AS r WHERE r.workspace_id = c.workspace_id AND r.parent_id = c.id)`;

/** An endpoint that deliveries are kept of is kept with them. */
const goneEndpoints = `SELECT e.workspace_id, e.id FROM endpoints AS e WHERE e.deleted_at <= :before
  AND NOT EXISTS (SELECT 1 FROM deliveries AS d WHERE d.workspace_id = e.workspace_id AND d.endpoint_id = e.id)
  AND NOT EXISTS (SELECT 1 FROM replays AS r WHERE r.workspace_id = e.workspace_id AND r.endpoint_id = e.id)`;

const sweep = (removals: Sweep['removals']): Sweep => ({ keptFor: 'deleted', removals, rows });

export const tombstones: readonly Sweep[] = [
  sweep([
    remove(
      'comments.sweep',
      'comments',
      `SELECT c.workspace_id, c.id FROM comments AS c WHERE c.deleted_at <= :before AND ${withoutReplies}`,
    ),
  ]),
  sweep([
    remove(
      'comments.sweep_of_issues',
      'comments',
      `SELECT c.workspace_id, c.id FROM (${goneIssues}) AS gone CROSS JOIN comments AS c
         ON c.workspace_id = gone.workspace_id AND c.issue_id = gone.id WHERE ${withoutReplies}`,
    ),
    remove(
      'issue_labels.sweep_of_issues',
      'issue_labels',
      `SELECT l.workspace_id, l.issue_id, l.label_id FROM (${goneIssues}) AS gone CROSS JOIN issue_labels AS l
         ON l.workspace_id = gone.workspace_id AND l.issue_id = gone.id`,
      'workspace_id, issue_id, label_id',
    ),
    remove(
      'issues.sweep',
      'issues',
      `SELECT gone.workspace_id, gone.id FROM (${goneIssues}) AS gone
       WHERE NOT EXISTS (SELECT 1 FROM comments AS c WHERE c.workspace_id = gone.workspace_id AND c.issue_id = gone.id)
         AND NOT EXISTS (SELECT 1 FROM issue_labels AS l WHERE l.workspace_id = gone.workspace_id AND l.issue_id = gone.id)`,
    ),
  ]),
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
         AND NOT EXISTS (SELECT 1 FROM plugin_gaps AS g WHERE g.workspace_id = p.workspace_id AND g.install_id = p.id)`,
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
];
