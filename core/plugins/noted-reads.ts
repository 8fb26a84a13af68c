// Which reads at the door are noted row by row and list by list, so that a commit can check them precisely. Of all others any change in
// the workspace is a conflict: see core/changes/reads.ts.
import type { Route } from '../http/route.ts';
import type { DoorCall } from './door-call.ts';

/** Their objects are read by the finders and lists of their kinds alone, and every change of one is an event of its kind. */
const listed = [
  ...['issues', 'comments', 'projects', 'milestones', 'cycles', 'labels', 'fields', 'templates', 'views'],
  ...['pipelines', 'releases', 'boards', 'project-updates'],
];
const noted: ReadonlySet<string> = new Set([
  ...listed.flatMap((path) => [`${path}.get`, `${path}.list`]),
  'relations.get',
  // Noted by the run's own values.
  'plugins.kv.list',
]);

/** What was is told by the log, and not by rows. */
export function isNotedInFull({ name }: Route, { query }: DoorCall): boolean {
  return noted.has(name) && query?.asOf === undefined;
}
