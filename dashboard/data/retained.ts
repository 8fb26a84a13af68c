// State of a form that survives leaving the page, such as to confirm the sign-in.
import { useState } from 'react';

/**
 * @param storage of the tab by default; that of the browser for drafts that outlive the tab
 * @returns the value, a function that changes it, and one that removes it
 */
export function useRetained<T>(
  name: string,
  initial: T,
  storage: Storage = sessionStorage,
): [T, (value: T) => void, () => void] {
  const key = `tatami.form ${name}`;
  const [value, set] = useState<T>(() => {
    try {
      return JSON.parse(storage.getItem(key) ?? 'null') ?? initial;
    } catch {
      return initial;
    }
  });
  const change = (next: T): void => {
    set(next);
    try {
      storage.setItem(key, JSON.stringify(next));
    } catch {
      // A full storage loses the retained copy, and must not stop the person from typing.
      storage.removeItem(key);
    }
  };
  const forget = (): void => {
    set(initial);
    storage.removeItem(key);
  };
  return [value, change, forget];
}
