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
