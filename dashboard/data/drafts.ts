// Drafts of texts. They are stored in the browser until they are sent, so that a reload loses nothing.
import { useState } from 'react';
import { useSession } from './provider.tsx';

/** @returns the value, a function that changes it, and one that removes the draft */
export function useDraft<T>(name: string, initial: T): [T, (value: T) => void, () => void] {
  const { member } = useSession();
  // Another person may sign in with the same browser.
  const key = `tatami.draft ${member.id} ${name}`;
  const [value, set] = useState<T>(() => {
    try {
      return JSON.parse(localStorage.getItem(key) ?? 'null') ?? initial;
    } catch {
      return initial;
    }
  });
  const change = (next: T): void => {
    set(next);
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // A full storage loses the stored copy, and must not stop the person from typing.
      localStorage.removeItem(key);
    }
  };
  const forget = (): void => {
    set(initial);
    localStorage.removeItem(key);
  };
  return [value, change, forget];
}
