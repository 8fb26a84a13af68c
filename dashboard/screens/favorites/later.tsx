// Part of the navigation that loads after the first screen: favorites, and the preferences that the server stores.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Favorite } from '@tatami/sdk/client';
import { useEffect, type ReactNode } from 'react';
import { useFavoriteChanges, useFavorites } from '../../data/favorites.ts';
import { preferencesQuery, showStored } from '../../data/preferences.ts';
import { queryClient, useApp, useClient } from '../../data/provider.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu, MenuItem } from '../../parts/overlay/menu.tsx';
import shell from '../../shell.module.css';
import { text } from '../../text/favorites.ts';
import styles from './favorites.module.css';

export default function Later(): ReactNode {
  useStoredPreferences();
  const favorites = useFavorites();
  useTitles(favorites);
  if (!favorites || favorites.length === 0) return null;
  return (
    <>
      <h2 id="favorites">{text.favorites}</h2>
      <ul className={styles.list} aria-labelledby="favorites">
        {favorites.map((favorite, index) => (
          <li key={favorite.id} className={styles.row}>
            <FavoriteLink favorite={favorite} />
            <Actions favorite={favorite} favorites={favorites} index={index} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** Shows the stored preferences, and those that another tab or device changes. */
function useStoredPreferences(): void {
  const { data, dataUpdatedAt } = useQuery(preferencesQuery(useClient()));
  useEffect(() => showStored(data), [data, dataUpdatedAt]);
}

/** Reads the favorites again when an object among them changes. */
function useTitles(favorites: readonly Favorite[] | undefined): void {
  const { live } = useApp();
  useEffect(
    () =>
      live.listen(({ data }) => {
        if (favorites?.some(({ targetId }) => targetId === (data as { id?: string }).id))
          void queryClient.invalidateQueries({ queryKey: ['favorites'] });
      }),
    [live, favorites],
  );
}

const paths = {
  view: '/views/$id',
  board: '/boards/$id',
  project: '/projects/$id',
  cycle: '/cycles/$id',
  release: '/releases/$id',
} as const;

function FavoriteLink({ favorite }: { readonly favorite: Favorite }): ReactNode {
  const { type, targetId, title, identifier } = favorite;
  if (title === null) return <span className={`${styles.missing} soft`}>{text.unavailable}</span>;
  const content = <span className="cut">{nameOf(favorite)}</span>;
  if (type === 'issue')
    return (
      <Link to="/issues/$identifier" params={{ identifier: identifier ?? targetId }} className={shell.link}>
        {content}
      </Link>
    );
  return (
    <Link to={paths[type]} params={{ id: targetId }} className={shell.link}>
      {content}
    </Link>
  );
}

const nameOf = ({ title, identifier }: Favorite): string =>
  title === null ? text.unavailable : identifier === null ? title : `${identifier} ${title}`;

interface ActionsProps {
  readonly favorite: Favorite;
  readonly favorites: readonly Favorite[];
  readonly index: number;
}

function Actions({ favorite, favorites, index }: ActionsProps): ReactNode {
  const { move, remove } = useFavoriteChanges();
  return (
    <Menu label={text.actionsOf(nameOf(favorite))} button={<Icon name="more" />} look="plain">
      <MenuItem isDisabled={index === 0} onSelect={() => void move(favorites, favorite, index - 1)}>
        {text.up}
      </MenuItem>
      <MenuItem
        isDisabled={index === favorites.length - 1}
        onSelect={() => void move(favorites, favorite, index + 1)}
      >
        {text.down}
      </MenuItem>
      <MenuItem onSelect={() => void remove(favorite)}>{text.remove}</MenuItem>
    </Menu>
  );
}
