import { defineRoute, type Route } from '../../http/route.ts';
import { Closed, nameOf } from '../../lib/schema.ts';
import { contractOf, type UndoKinds } from '../undo/kinds.ts';
import { Trail, trailQuery } from './schema.ts';
import { readTrail } from './trail.ts';

export function trailRoute(kinds: UndoKinds): Route {
  const issue = contractOf('issue')!;
  return defineRoute({
    method: 'GET',
    path: '/api/v1/issues/{id}/trail',
    name: 'issues.trail',
    summary: 'Why an issue is what it is: events, plugin runs and deliveries, by what they began with',
    description:
      'The newest first. Each root is a tree of nodes: an event, the runs that it caused, the events that those made, and so on. A root whose events on the issue lie on both sides of the end of a page is on both pages, with its events of each. Runs that are under way are shown once they have ended.',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    params: Closed({ id: nameOf(issue) }),
    query: trailQuery,
    responses: { 200: Trail },
    errors: ['invalid_cursor'],
    read: (ctx, { params, query }) => readTrail(ctx, kinds.named('issue')!, params.id, query),
  });
}
