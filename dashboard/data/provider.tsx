// Makes session, client and cache available to the screens, and keeps the cache current.
import { QueryClientProvider } from '@tanstack/react-query';
import { ApiCallError, type Client, type Scope } from '@tatami/sdk/client';
import { createContext, use, useEffect, useMemo, useState, type ReactNode } from 'react';
import { leaveToSignIn, onRefusal, openSession, type TabSession } from './client.ts';
import { connectFeed } from './feed.ts';
import type { FeedMessage } from './feed-reader.ts';
import { LiveCache } from './live.ts';
import { LiveQueryClient } from './queries.ts';
import type { Exchanged } from './session.ts';

/** State of the connection to the event stream. */
type Connection = 'connecting' | 'live' | 'offline';

interface App {
  readonly client: Client;
  /** Returns a bearer, for requests that the client cannot make, such as uploads with progress. */
  token(): Promise<string>;
  readonly session: Exchanged;
  readonly live: LiveCache;
  readonly connection: Connection;
  /** True once the server runs another version than this page. */
  readonly isOutdated: boolean;
}

const AppContext = createContext<App | null>(null);

export function useApp(): App {
  const app = use(AppContext);
  if (!app) throw new Error('A screen is rendered outside of the app.');
  return app;
}

export const useClient = (): Client => useApp().client;
export const useSession = (): Exchanged => useApp().session;

/** Returns true if the role of the person allows it. The server decides about single objects. */
export const useMay = (scope: Scope): boolean => useSession().scopes.includes(scope);

export const queryClient = new LiveQueryClient({
  defaultOptions: {
    queries: {
      // Events keep the data current.
      staleTime: Infinity,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: false,
      // The client of the API repeats requests itself.
      retry: false,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

const live = new LiveCache(queryClient);

/** The root element tells programs that watch the page whether it shows the present state. */
function showState(name: 'connection' | 'loading', value: string): void {
  document.documentElement.dataset[name] = value;
}

queryClient.getQueryCache().subscribe(() => showState('loading', String(queryClient.isFetching())));

interface ProviderProps {
  readonly children: ReactNode;
  readonly failed: (error: unknown) => ReactNode;
  readonly waiting: ReactNode;
}

export function AppProvider({ children, failed, waiting }: ProviderProps): ReactNode {
  const [tab, setTab] = useState<TabSession | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    openSession().then(setTab, (reason: unknown) => {
      if (reason instanceof ApiCallError && reason.status === 401) leaveToSignIn();
      else setError(reason);
    });
  }, []);
  if (error !== null) return failed(error);
  if (!tab) return waiting;
  return (
    <QueryClientProvider client={queryClient}>
      <Connected tab={tab}>{children}</Connected>
    </QueryClientProvider>
  );
}

function Connected({ tab, children }: { readonly tab: TabSession; readonly children: ReactNode }): ReactNode {
  const [connection, setConnection] = useState<Connection>('connecting');
  const [session, setSession] = useState(tab.exchanged);
  const [isOutdated, setOutdated] = useState(false);
  useEffect(() => {
    let { role } = tab.exchanged.member;
    const renew = async (): Promise<void> => {
      const next = await tab.renew().catch(() => null);
      if (!next) return;
      setSession(next);
      // Another role sees other data.
      if (next.member.role !== role) void queryClient.invalidateQueries();
      ({ role } = next.member);
    };
    let isFirst = true;
    const receive = (message: FeedMessage): void => {
      if (message.kind === 'event') {
        live.apply(message.event);
        if (message.event.type === 'member.updated' && message.event.data.id === tab.exchanged.member.id)
          void renew();
      } else if (message.kind === 'live') {
        setConnection('live');
        // Data that was read before the stream opened may have changed since.
        const refresh = (): Promise<void> => queryClient.invalidateQueries();
        if (isFirst) void refresh();
        else {
          // A restarted server knows no earlier bearer.
          void renew().then(refresh);
          void isCurrentVersion().then((isCurrent) => setOutdated(!isCurrent));
        }
        isFirst = false;
      } else if (message.kind === 'offline') setConnection('offline');
      else if (message.kind === 'reset') void queryClient.resetQueries();
      else leaveToSignIn();
    };
    const stop = connectFeed(tab.source, tab.exchanged.workspace.id, receive);
    const ignoreRefusals = onRefusal(() => void renew());
    return () => {
      stop();
      ignoreRefusals();
    };
  }, [tab]);
  useEffect(() => showState('connection', connection), [connection]);
  const app = useMemo(
    () => ({ client: tab.client, token: tab.token, session, live, connection, isOutdated }),
    [tab, session, connection, isOutdated],
  );
  return <AppContext value={app}>{children}</AppContext>;
}

/** Files of an earlier version are no longer served. */
async function isCurrentVersion(): Promise<boolean> {
  const script = document.querySelector<HTMLScriptElement>('script[src^="/assets/"]')!.src;
  const { status } = await fetch(script, { cache: 'no-store' }).catch(() => ({ status: 0 }));
  return status !== 404;
}
