import { defineResource } from '../../kernel/resource/define.ts';
import { IssueUpdate } from './bodies.ts';
import { issue } from './contract.ts';
import { issueFiltering } from './query/filter.ts';
import { deleteIssue, restoreIssue, updateIssue } from './issues.ts';
import { issueModel } from './model.ts';
import { issueRoutes } from './routes.ts';

export const issues = defineResource(issue, issueModel, {
  operations: { update: updateIssue, delete: deleteIssue, restore: restoreIssue },
  updateBody: IssueUpdate,
  routes: issueRoutes,
  filtering: issueFiltering,
});
