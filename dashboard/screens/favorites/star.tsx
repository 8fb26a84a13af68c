// Button that adds the object of a screen to the favorites, or removes it.
import type { Favorite } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useFavoriteChanges, useFavorites } from '../../data/favorites.ts';
import { Button } from '../../parts/button.tsx';
import { text } from '../../text/favorites.ts';
import styles from './favorites.module.css';

interface StarProps {
  readonly type: Favorite['type'];
  readonly id: string;
}

export function Star({ type, id }: StarProps): ReactNode {
  const favorites = useFavorites();
  const { add, remove } = useFavoriteChanges();
  const favorite = favorites?.find(({ targetId }) => targetId === id);
  const name = favorite ? text.remove : text.add;
  return (
    <Button
      look="plain"
      isIcon
      aria-label={name}
      title={name}
      disabled={!favorites}
      onClick={() => void (favorite ? remove(favorite) : add(type, id))}
    >
      <svg className={styles.star} viewBox="0 0 16 16" aria-hidden="true" data-full={favorite !== undefined}>
        <path d="M8 1.8l1.9 4 4.3.6-3.1 3 .8 4.4L8 11.7l-3.9 2.1.8-4.4-3.1-3 4.3-.6z" />
      </svg>
    </Button>
  );
}
