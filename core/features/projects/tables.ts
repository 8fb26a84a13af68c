// Tables of projects.
import { Type } from 'typebox';
import { defineTable } from '../../kernel/table/define.ts';
import { id, json } from '../../kernel/table/formats.ts';
import { idOf } from '../../platform/lib/schema.ts';
import { issue } from '../issues/contract.ts';
import { member } from '../people/contract.ts';
import { project } from './contract.ts';

export const projectTable = defineTable('projects', {
  contract: project,
  owner: 'workspace',
  retention: { forever: 'people create them one by one, and issues, keys and history refer to them' },
  exported: { formats: { members_json: json(Type.Array(idOf(member.id))) } },
  log: 'own',
  quotes: { none: 'people write its texts' },
});

export const projectIssueTable = defineTable('project_issues', {
  owner: { projects: 'project_id' },
  retention: {
    bound:
      'one for each issue that was in a project; they select the events from which daily progress is computed',
  },
  exported: { formats: { id: id(issue.id) } },
  log: { local: 'index of the log' },
  quotes: { none: 'ids' },
});
