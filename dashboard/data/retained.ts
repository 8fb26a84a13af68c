// State of a form that survives leaving the page, such as to confirm the sign-in. It ends with the tab.
import { useState } from 'react';

/** @returns the value, a function that changes it, and one that removes it */
export function useRetained<T>(name: string, initial: T): [T, (value: T) => void, () => void] {
  const key = `tatami.form ${name}`;
  const [value, set] = useState<T>(() => {
    try {
      return JSON.parse(sessionStorage.getItem(key) ?? 'null') ?? initial;
    } catch {
      return initial;
    }
  });
  const change = (next: T): void => {
    sessionStorage.setItem(key, JSON.stringify(next));
    set(next);
  };
  return [value, change, () => sessionStorage.removeItem(key)];
}
