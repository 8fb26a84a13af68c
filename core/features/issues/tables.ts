// Tables of issues.
import { defineTable } from '../../kernel/table/define.ts';
import { fieldsResponse } from '../fields/contract.ts';
import { id, integer, json, rank } from '../../kernel/table/formats.ts';
import { issue, priorities } from './contract.ts';
import { rankLengthMax } from '../../platform/lib/rank.ts';
import { systemStatement } from '../../platform/store/statement.ts';

/** Name of the timer; each workspace has one, identified by the id of the workspace. */
export const purgedTimerName = 'purged';

const why = 'expired rows are removed in all workspaces';

export const issueTable = defineTable('issues', {
  contract: issue,
  owner: 'workspace',
  // A parent is removed after its sub-issues.
  retains: { issues: 'parent_id' },
  retention: {
    days: 'deleted',
    since: 'deleted_at',
    atOnce: 50,
    // Data stored elsewhere about a removed issue is removed too.
    notes: (gone) => [
      systemStatement(
        'former_identifiers.note_gone',
        why,
        `INSERT OR IGNORE INTO former_identifiers (workspace_id, team_id, number, issue_id)
         SELECT i.workspace_id, i.team_id, i.number, i.id FROM (${gone}) AS gone CROSS JOIN issues AS i
           ON i.workspace_id = gone.workspace_id AND i.id = gone.id`,
      ),
      systemStatement(
        'purged_issues.note',
        why,
        `INSERT OR IGNORE INTO purged_issues (workspace_id, id, created_at)
         SELECT workspace_id, id, created_at FROM (${gone})`,
      ),
      systemStatement(
        'purged_issues.set_timer',
        why,
        `INSERT OR IGNORE INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
         SELECT DISTINCT workspace_id, '${purgedTimerName}/' || workspace_id, '${purgedTimerName}', '${purgedTimerName}',
           created_at, 0, NULL, 1 FROM (${gone})`,
      ),
    ],
  },
  exported: {
    formats: {
      number: integer(1),
      priority: integer(0, priorities.length - 1),
      sub_order: rank(rankLengthMax),
      fields_json: json(fieldsResponse),
    },
  },
  log: 'own',
  quotes: { none: 'people write its texts' },
  unlogged: {
    updated_at: 'comments and attachments change it without an event of the issue',
  },
  derived: [
    {
      columns: ['sla_due_at'],
      what: 'issues have another SLA due time than their clocks',
      sql: `FROM issues AS t WHERE t.sla_due_at <> coalesce((SELECT min(c.due_at) FROM sla_clocks AS c INDEXED BY sla_clocks_open
        WHERE c.workspace_id = t.workspace_id AND c.issue_id = t.id AND c.ended_at IS NULL), 8640000000000000)`,
    },
  ],
});

export const issueLabelTable = defineTable('issue_labels', {
  owner: { issues: 'issue_id', labels: 'label_id' },
  retention: { withOwner: true },
  exported: {},
  log: 'issue',
  quotes: { none: 'ids and times' },
  derived: [
    {
      columns: ['created_at'],
      what: 'labels of issues have another creation time than their issue',
      sql: `FROM issue_labels AS t JOIN issues AS i ON i.workspace_id = t.workspace_id AND i.id = t.issue_id
        WHERE i.created_at <> t.created_at`,
    },
  ],
});

export const formerIdentifierTable = defineTable('former_identifiers', {
  owner: { teams: 'team_id' },
  retention: { bound: 'one for each identifier of an issue that was moved or purged' },
  exported: { formats: { number: integer(1), issue_id: id(issue.id) } },
  log: { local: 'index of the log' },
  quotes: { none: 'ids and numbers' },
});

export const purgedIssueTable = defineTable('purged_issues', {
  owner: 'workspace',
  retention: { bound: 'each is removed once no stored data refers to the issue' },
  exported: { not: 'it is work of the exporting server' },
  log: { local: 'work of the server' },
  quotes: { none: 'ids and times' },
});
