import { issueFacts } from './checks.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { IssueUpdate } from './bodies.ts';
import { issue } from './contract.ts';
import { deleteIssue, restoreIssue, updateIssue } from './issues.ts';
import { issueModel } from './model.ts';
import { issueFiltering } from './query/filter.ts';
import { issueRoutes } from './routes.ts';
import { issueSamples } from './samples.ts';

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

export { IssueSelection, issueNames, IssueUpdate, type IssuePatch } from './bodies.ts';
export { listIssues, requestedFilters, type IssueQuery, type IssueFilters } from './issues.ts';
export { issueModel, neverDue, type Issue, type IssueResponse } from './model.ts';
export {
  positionInputs,
  readPosition,
  type PositionExtras,
  type OrderPosition,
} from './order/order-position.ts';
export { linkToIssue, issueOfPart, partOfIssue } from './order/part.ts';
export { purgedTimerName } from './purged.ts';
export { allIssuesAt, parentsAt, listIssuesAt } from './query/as-of.ts';
export { issueFiltering, issueReferences } from './query/filter.ts';
export { inState } from './query/in-state.ts';
export { issueFilters, listQuery } from './query/query.ts';
export { selectIssues } from './query/select.ts';
export { shapeIssues, readShape, type Shape } from './query/shape.ts';
export { issueKeys, issueOrder, existingSort } from './query/sorting.ts';
export { resolvePatch } from './references/references.ts';
export { textToIndex } from './search-pending.ts';
export { withIssueVisibility, requireMayChange, readingIssues, writingIssues } from './seen.ts';
