// Lists the API reads whose rows and lists are tracked one by one, so that a commit can check them precisely.
// After any other read, every change in the workspace counts as a conflict (core/kernel/changes/read/reads.ts).
import type { Route } from '../../../kernel/http/route.ts';
import type { GatewayCall } from './gateway-call.ts';

/** Entities that are read only through their own finders and lists, and whose changes all emit an event of that entity. */
const listed = [
  ...['issues', 'comments', 'projects', 'milestones', 'cycles', 'labels', 'fields', 'templates', 'views'],
  ...['pipelines', 'releases', 'boards', 'project-updates'],
];
const noted: ReadonlySet<string> = new Set([
  ...listed.flatMap((path) => [`${path}.get`, `${path}.list`]),
  'relations.get',
  // `OwnValues` records this read.
  'plugins.kv.list',
]);

/** Reads with `asOf` come from the event log, so they have no rows to track. */
export function isNotedInFull({ name }: Route, { query }: GatewayCall): boolean {
  return noted.has(name) && query?.asOf === undefined;
}
