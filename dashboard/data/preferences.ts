// Preferences of the person. The server stores them, and this browser stores a copy, with which the app paints first.
import { queryOptions } from '@tanstack/react-query';
import type { Client, Preferences } from '@tatami/sdk/client';
import { useSyncExternalStore } from 'react';
import { notifyProblem } from '../parts/overlay/toast.tsx';
import { queryClient, useClient } from './provider.tsx';

const key = 'tatami.preferences';
const defaults: Preferences = {
  theme: 'system',
  density: 'comfortable',
  singleKeyShortcuts: true,
  startPage: 'my_issues',
};

let current = { ...defaults, ...copyInBrowser() };
const listeners = new Set<() => void>();
/** Writes that the server has not confirmed. Until then its answers to reads are older than what the page shows. */
let pending = 0;
let last: Promise<unknown> = Promise.resolve();

function copyInBrowser(): Partial<Preferences> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Preferences>;
  } catch {
    return {};
  }
}

export const preferences = (): Preferences => current;

export function usePreferences(): Preferences {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, preferences);
}

export function applyTheme(): void {
  const { dataset } = document.documentElement;
  if (current.theme === 'system') delete dataset.theme;
  else dataset.theme = current.theme;
}

export const preferencesQuery = (client: Client) =>
  queryOptions({ queryKey: ['preferences'], queryFn: () => client.me.preferences.get() });

/** Shows what the server answered, unless a change is on its way. */
export function showStored(stored: Preferences | undefined): void {
  if (pending === 0 && stored) show(stored);
}

function show(next: Preferences): void {
  current = next;
  localStorage.setItem(key, JSON.stringify(next));
  applyTheme();
  for (const listener of listeners) listener();
}

/** Returns a function that changes some preferences: at once here, then on the server, one request after the other. */
export function useChangePreferences(): (part: Partial<Preferences>) => void {
  const client = useClient();
  const query = preferencesQuery(client);
  const store = async (part: Partial<Preferences>): Promise<void> => {
    // The copy in this browser may be that of another person.
    const stored = await queryClient.fetchQuery(query);
    queryClient.setQueryData(query.queryKey, await client.me.preferences.put({ ...stored, ...part }));
  };
  return (part) => {
    show({ ...current, ...part });
    pending++;
    last = last
      .then(() => store(part))
      .catch(notifyProblem)
      .finally(() => {
        pending--;
        showStored(queryClient.getQueryData(query.queryKey));
      });
  };
}
