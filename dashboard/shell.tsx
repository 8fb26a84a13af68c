// Frame of all screens: navigation, connection notices, and what every screen can open.
import { useIsFetching, useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react';
import { useApp, useClient, useSession } from './data/provider.tsx';
import { Button } from './parts/button.tsx';
import { Icon } from './parts/icon.tsx';
import { loadWhenUsed } from './parts/overlay/loaded.ts';
import { Menu, MenuItem } from './parts/overlay/menu.tsx';
import { Toasts } from './parts/overlay/toast.tsx';
import { developerScreens, workScreens } from './screens.ts';
import { Palette } from './screens/palette/palette.tsx';
import { CreateButton, CreateHost } from './screens/create/create.tsx';
import styles from './shell.module.css';
import { text } from './text/shell.ts';

const Later = lazy(() => import('./screens/favorites/later.tsx'));
const PreferencesDialog = lazy(() => import('./screens/favorites/preferences-dialog.tsx'));

export function Shell(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => setOpen(false), [path]);
  useReloadOfOutdated(path);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        {text.skip}
      </a>
      <div className={styles.toggle}>
        <Button
          isIcon
          aria-label={isOpen ? text.closeMenu : text.openMenu}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="menu" />
        </Button>
        <span className="grow" />
        <CreateButton />
      </div>
      <nav className={styles.nav} aria-label={text.main} data-open={isOpen}>
        <WorkspaceMenu onPreferences={() => setEditing(true)} />
        <Palette />
        <CreateButton />
        <Links links={workScreens} />
        <AfterFirstScreen />
        <h2>{text.developers}</h2>
        <Links links={developerScreens} />
      </nav>
      <main id="content" className={styles.main} tabIndex={-1}>
        <Notices />
        <Outlet />
      </main>
      <Suspense>{isEditing && <PreferencesDialog onClose={() => setEditing(false)} />}</Suspense>
      <CreateHost />
      <Toasts />
    </div>
  );
}

/** Time without requests after which the first screen counts as shown. */
const quietMs = 100;

/** Loads the parts that the first screen does not need. */
function AfterFirstScreen(): ReactNode {
  const isLoading = useRouterState({ select: ({ status }) => status !== 'idle' });
  const isBusy = useIsFetching() > 0 || isLoading;
  const [isDue, setDue] = useState(false);
  useEffect(() => {
    if (isBusy) return;
    const timer = setTimeout(() => setDue(true), quietMs);
    return () => clearTimeout(timer);
  }, [isBusy]);
  useEffect(() => (isBusy ? undefined : loadWhenUsed()), [isBusy]);
  return <Suspense>{isDue && <Later />}</Suspense>;
}

/** Loads the page of the new version with the next screen, when nothing that was typed can be lost. */
function useReloadOfOutdated(path: string): void {
  const { isOutdated } = useApp();
  const shown = useRef(path);
  useEffect(() => {
    if (isOutdated && shown.current !== path) location.reload();
    shown.current = path;
  }, [isOutdated, path]);
}

function Links({
  links,
}: {
  readonly links: readonly { readonly to: string; readonly label: string }[];
}): ReactNode {
  return (
    <ul>
      {links.map(({ to, label }) => (
        <li key={to}>
          <Link to={to} className={styles.link}>
            {label}
            {to === '/inbox' && <UnreadCount />}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function UnreadCount(): ReactNode {
  const client = useClient();
  const { data } = useQuery({ queryKey: ['inbox', 'unread'], queryFn: () => client.inbox.unreadCount() });
  if (!data || data.unread === 0) return null;
  return (
    <span className={styles.count}>
      {data.unread} <span className="only-read">{text.unread}</span>
    </span>
  );
}

function WorkspaceMenu({ onPreferences }: { readonly onPreferences: () => void }): ReactNode {
  const { workspace, workspaces, member } = useSession();
  const open = (id: string): void =>
    location.assign(`/?${new URLSearchParams({ workspace: id }).toString()}`);
  return (
    <Menu
      button={
        <>
          <span className="cut">{workspace.name}</span>
          <Icon name="down" />
        </>
      }
      label={`${text.workspace}: ${workspace.name}`}
      look="plain"
    >
      {workspaces.map(({ id, name }) => (
        <MenuItem key={id} onSelect={() => open(id)} isDisabled={id === workspace.id}>
          {name}
        </MenuItem>
      ))}
      <MenuItem onSelect={onPreferences}>{text.preferences}</MenuItem>
      <MenuItem onSelect={() => location.assign('/docs/guides')}>{text.docs}</MenuItem>
      <MenuItem onSelect={() => location.assign('/account')}>
        {text.account}: {member.name}
      </MenuItem>
    </Menu>
  );
}

function Notices(): ReactNode {
  const { connection, isOutdated } = useApp();
  return (
    <div role="status">
      {connection === 'offline' && <p className={styles.note}>{text.offline}</p>}
      {isOutdated && (
        <p className={styles.note}>
          {text.outdated} <Button onClick={() => location.reload()}>{text.reload}</Button>
        </p>
      )}
    </div>
  );
}
