import { defineResource } from '../../resource/define.ts';
import { IssueUpdate } from './bodies.ts';
import { issue } from './contract.ts';
import { issueFiltering } from './filter.ts';
import { deleteIssue, restoreIssue, updateIssue } from './issues.ts';
import { issueModel } from './kind.ts';
import { issueRoutes } from './routes.ts';

export const issues = defineResource(issue, issueModel, {
  operations: { update: updateIssue, delete: deleteIssue, restore: restoreIssue },
  updateBody: IssueUpdate,
  routes: issueRoutes,
  filtering: issueFiltering,
});
