// Objects that the palette finds by name.
import { queryOptions } from '@tanstack/react-query';
import type { Client } from '@tatami/sdk/client';

const pageSize = 100;

const kinds = {
  project: { to: '/projects/$id', list: (client: Client) => client.projects.list({ limit: pageSize }) },
  cycle: { to: '/cycles/$id', list: (client: Client) => client.cycles.list({ limit: pageSize }) },
  board: { to: '/boards/$id', list: (client: Client) => client.boards.list({ limit: pageSize }) },
  view: { to: '/views/$id', list: (client: Client) => client.views.list({ limit: pageSize }) },
  release: { to: '/releases/$id', list: (client: Client) => client.releases.list({ limit: pageSize }) },
  automation: {
    to: '/automations/$id',
    list: (client: Client) => client.automations.list({ limit: pageSize }),
  },
} as const;
type Kind = keyof typeof kinds;

/** Names of the other objects, loaded once: their number grows slowly. */
export const objectsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['palette', 'objects'],
    staleTime: 60_000,
    queryFn: async () => {
      const lists = Object.entries(kinds).map(async ([kind, { to, list }]) => {
        const { data } = await list(client).catch(() => ({ data: [] }));
        return data.map(({ id, name }) => ({ kind: kind as Kind, id, name, to }));
      });
      return (await Promise.all(lists)).flat();
    },
  });
