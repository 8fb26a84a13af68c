// Names of the objects that audit log entries refer to by id.
import { useQueries } from '@tanstack/react-query';
import type { AuditEntry } from '@tatami/sdk/client';
import { useCycles, useLabels, useMembers, useProjects, useStates, useTeams } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';

type Entry = Pick<AuditEntry, 'target'>;

/** Number of values that a filter takes, and of issues on a page. */
const chunkSize = 50;

/** Returns the ids of the issues in chunks. A longer list only adds to the last chunk, so that earlier ones stay cached. */
export function issueChunks(entries: readonly Entry[]): readonly (readonly string[])[] {
  const issues = entries.filter(({ target }) => target.kind === 'issue');
  const ids = [...new Set(issues.map(({ target }) => target.id))];
  return Array.from({ length: Math.ceil(ids.length / chunkSize) }, (_, at) =>
    ids.slice(at * chunkSize, (at + 1) * chunkSize),
  );
}

/** Returns names by the id of the object; deleted objects and those of other types are absent. */
export function useTargetNames(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const client = useClient();
  const issues = useQueries({
    queries: issueChunks(entries).map((ids) => ({
      queryKey: ['issues', 'names', ids],
      queryFn: async () => (await client.issues.list({ filter: { id: ids }, limit: chunkSize })).data,
    })),
  });
  const named = [useMembers(), useLabels(), useStates(), useTeams(), useProjects(), useCycles()].flat();
  return new Map([
    ...named.map(({ id, name }) => [id, name] as const),
    ...issues.flatMap(({ data = [] }) => data.map(({ id, identifier }) => [id, identifier ?? id] as const)),
  ]);
}
