import { useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { text } from '../../text/issues.ts';
import { ListScreen } from './list-screen.tsx';
import { SaveView, ViewsMenu } from './views-menu.tsx';

export default function Issues(): ReactNode {
  const search = useSearch({ from: '/issues' });
  return (
    <ListScreen
      list="/issues"
      title={text.title}
      search={search}
      actions={
        <>
          <SaveView search={search} />
          <ViewsMenu />
        </>
      }
    />
  );
}
