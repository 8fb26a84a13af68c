import { Type } from 'typebox';
import { defineRoute } from '../../kernel/http/route.ts';
import { Closed, idOf } from '../../platform/lib/schema.ts';
import { cycle } from '../cycles/contract.ts';
import { readingIssues } from '../issues/index.ts';
import { project } from '../projects/contract.ts';
import { CycleProgress, progressOfCycle, ProjectProgress, progressOfProject } from './operations.ts';
import { defineFeature } from '../../kernel/feature.ts';

const progressRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/projects/{id}/progress',
    name: 'projects.progress',
    summary: 'Get the progress of a project',
    description:
      'Counts the issues of the project and of each milestone by the type of their current state, in the teams whose issues the caller can read. Reads every issue of the project.',
    scope: 'projects:read',
    also: readingIssues,
    limit: 'search',
    params: Closed({ id: idOf(project.id) }),
    query: Closed({
      since: Type.Optional(
        Type.String({
          maxLength: 40,
          description:
            'First day of the daily counts for a burn-up chart, YYYY-MM-DD, within the last year; default: no daily counts.',
        }),
      ),
    }),
    responses: { 200: ProjectProgress },
    errors: ['budget_exceeded'],
    read: (ctx, { params, query }) => progressOfProject(ctx, params.id, query.since),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/cycles/{id}/progress',
    name: 'cycles.progress',
    summary: 'Get scope and progress of a cycle, day by day',
    description:
      'Data for a burn-up chart, computed from the event log: issues as they were at the end of each day.',
    scope: 'cycles:read',
    rows: 'team',
    also: readingIssues,
    limit: 'search',
    params: Closed({ id: idOf(cycle.id) }),
    responses: { 200: CycleProgress },
    read: (ctx, { params }) => progressOfCycle(ctx, params.id),
  }),
];

export const progress = defineFeature({ name: 'progress', routes: progressRoutes });
