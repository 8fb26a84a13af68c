// Favorites of the person, loaded whole: there are at most 100.
import { useQuery } from '@tanstack/react-query';
import type { Favorite } from '@tatami/sdk/client';
import { positionBetween } from './position.ts';
import { queryClient, useClient } from './provider.tsx';
import { useWrite } from './writes.ts';

const queryKey = ['favorites'];

/** Returns undefined while they load. */
export function useFavorites(): readonly Favorite[] | undefined {
  const client = useClient();
  const { data } = useQuery({
    queryKey,
    queryFn: async () => (await client.favorites.list({ limit: 100 })).data,
  });
  return data;
}

const inOrder = (a: Favorite, b: Favorite): number => a.position - b.position || (a.id < b.id ? -1 : 1);

function show(change: (favorites: readonly Favorite[]) => readonly Favorite[]): void {
  queryClient.setQueryData<readonly Favorite[]>(queryKey, (favorites) => favorites && change(favorites));
}

/** Returns functions that change favorites. A change shows at once; a failed one is taken back with a message. */
export function useFavoriteChanges() {
  const write = useWrite();
  const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey });
  return {
    async add(type: Favorite['type'], targetId: string): Promise<void> {
      const added = await write((client) => client.favorites.create({ type, targetId }));
      if (added) show((all) => [...all.filter(({ id }) => id !== added.id), added].toSorted(inOrder));
    },
    async remove({ id }: Favorite): Promise<void> {
      show((all) => all.filter((one) => one.id !== id));
      await write((client) => client.favorites.delete(id));
      await refresh();
    },
    /** Moves a favorite to another index of the list. */
    async move(favorites: readonly Favorite[], { id }: Favorite, to: number): Promise<void> {
      const others = favorites.filter((one) => one.id !== id);
      const position = positionBetween(others[to - 1]?.position, others[to]?.position);
      show((all) => all.map((one) => (one.id === id ? { ...one, position } : one)).toSorted(inOrder));
      await write((client) => client.favorites.update(id, { position }));
      await refresh();
    },
  };
}
