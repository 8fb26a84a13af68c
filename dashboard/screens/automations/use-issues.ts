import { useQuery } from '@tanstack/react-query';
import type { Issue } from '@tatami/sdk/client';
import { useClient } from '../../data/provider.tsx';

/** Limit of a page of the API. */
const issuesMax = 100;

/** Returns issues by id. Deleted ones, and those that the person may not see, are missing. */
export function useIssues(ids: readonly string[]): ReadonlyMap<string, Issue> {
  const client = useClient();
  const asked = [...new Set(ids)].slice(0, issuesMax).toSorted();
  const { data = [] } = useQuery({
    queryKey: ['issues', 'named', asked],
    enabled: asked.length > 0,
    queryFn: async () => (await client.issues.list({ filter: { id: asked }, limit: issuesMax })).data,
  });
  return new Map(data.map((issue) => [issue.id, issue]));
}
