// SLA clocks as a resource, and the reaction that changes them.
import { getEntity } from '../../changes/operations.ts';
import type { Reaction } from '../../reactions/reaction.ts';
import { defineResource } from '../../resource/define.ts';
import { filterColumnsOf, filterFieldsOf, namesIn } from '../../resource/filter.ts';
import { createFiltering } from '../../resource/filtering.ts';
import type { FilterColumn } from '../../store/filter-sql.ts';
import { issueReferences } from '../issues/filter.ts';
import { issueModel } from '../issues/kind.ts';
import { team } from '../teams/contract.ts';
import { slaTimerName } from './timer-name.ts';
import { slaClock } from './contract.ts';
import { follow, heeds } from './following.ts';
import { clockModel } from './kind.ts';
import { clocksOfAll } from './workspace-list.ts';

/** Treats an issue without a value like an empty list of values. */
const ofIssue = (column: string): FilterColumn => ({
  sql: `i.${column}`,
  wrap: (condition) =>
    `EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = :ws AND i.id = sla_clocks.issue_id
      AND i.${column} IS NOT NULL AND ${condition})`,
});
const ownColumns = filterColumnsOf(slaClock);

/** Filters by fields of the clock, and by team and assignee of the issue. */
const filtering = createFiltering({
  fields: { ...filterFieldsOf(slaClock), team: issueReferences.team, assignee: issueReferences.assignee },
  columns: (directory, resolved) => ({
    ...ownColumns(directory, resolved),
    team: { ...ofIssue('team_id'), ...namesIn(directory, team, 'key') },
    assignee: ofIssue('assignee_id'),
  }),
});

export const slaClocks = defineResource(slaClock, clockModel, {
  async where(ctx, _query, issueId) {
    const issue = await getEntity(ctx, issueModel, issueId ?? '');
    return [{ sql: 'issue_id = :issueId', params: { issueId: issue.id } }];
  },
  filtering,
  routes: [clocksOfAll(filtering)],
});

export const slaReaction: Reaction = {
  name: slaTimerName,
  subscribesTo: heeds,
  react: async (ctx, event) => ({ changes: await follow(ctx, event) }),
};
