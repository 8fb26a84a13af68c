import { equal, fact, fieldValuesFact, timeOf, type SpecialFacts } from '../../kernel/checks.ts';
import { priorities, issue } from './contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { IssueUpdate } from './bodies.ts';
import { deleteIssue, restoreIssue, updateIssue } from './operations.ts';
import { issueModel } from './model.ts';
import { issueFiltering } from './query/filter.ts';
import { issueRoutes } from './routes.ts';
import { issueSamples } from './samples.ts';

const issueFacts: SpecialFacts = {
  issue: (references) => [
    equal('priority', 'priority', ({ priority }) =>
      priorities.toReversed().indexOf(priority as (typeof priorities)[number]),
    ),
    // Comments and attachments update this column without a new version.
    fact(
      'updatedAt',
      ['updated_at'],
      (row, { data }) => Number(row.updated_at) >= Number(timeOf(data.updatedAt)),
    ),
    fieldValuesFact(references),
  ],
};

const resource = defineResource(issue, issueModel, {
  operations: { update: updateIssue, delete: deleteIssue, restore: restoreIssue },
  updateBody: IssueUpdate,
  routes: issueRoutes,
  filtering: issueFiltering,
});

export const issues = defineFeature({
  name: 'issues',
  resources: [resource],
  samples: issueSamples,
  facts: issueFacts,
});

export { withIssueVisibility, requireMayChange, readingIssues, writingIssues } from './access.ts';
export {
  IssueCreate,
  IssueMove,
  IssueSelection,
  IssueUpdate,
  issueNames,
  positionInputs,
  readPosition,
  type IssuePatch,
  type OrderPosition,
  type PositionExtras,
} from './bodies.ts';
export { selectIssues } from './bulk.ts';
export {
  activityOp,
  inState,
  issueModel,
  neverDue,
  shownOps,
  type Issue,
  type IssueResponse,
} from './model.ts';
export { linkToIssue, issueOfPart, partOfIssue } from './part.ts';
export { allIssuesAt, issueOfPast, parentsAt, listIssuesAt } from './query/as-of.ts';
export { issueFiltering, issueReferences } from './query/filter.ts';
export {
  issueFilters,
  listIssues,
  listQuery,
  requestedFilters,
  selectionConditions,
  selectionQuery,
  sortQuery,
  type IssueFilters,
  type IssueQuery,
  type SelectionQuery,
} from './query/list.ts';
export { shapeIssues, readShape, type Shape } from './query/shape.ts';
export { issueKeys, issueOrder, existingSort } from './query/sorting.ts';
export { resolvePatch } from './references.ts';
export { purgedTimerName } from './tables.ts';
