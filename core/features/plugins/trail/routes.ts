import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { Closed, nameOf } from '../../../platform/lib/schema.ts';
import { contractOf, type UndoModels } from '../undo/models.ts';
import { Trail, trailQuery } from './schema.ts';
import { readTrail } from './trail.ts';

export function trailRoute(models: UndoModels): Route {
  const issue = contractOf('issue')!;
  return defineRoute({
    method: 'GET',
    path: '/api/v1/issues/{id}/trail',
    name: 'issues.trail',
    summary: 'Get the trail of an issue: events, plugin runs and deliveries, grouped by root cause',
    description:
      'Roots are listed newest first. Each root is a tree of nodes: an event, the runs that it caused, the events that those runs made, and so on. A root whose events span two pages appears on both, each time with the events of that page. Runs in progress are shown once they have ended.',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    params: Closed({ id: nameOf(issue) }),
    query: trailQuery,
    responses: { 200: Trail },
    errors: ['invalid_cursor'],
    read: (ctx, { params, query }) => readTrail(ctx, models.byName('issue')!, params.id, query),
  });
}
