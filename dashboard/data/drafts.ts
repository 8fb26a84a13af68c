// Drafts of texts. They are stored in the browser until they are sent, so that a reload loses nothing.
import { useState } from 'react';
import { useSession } from './provider.tsx';

/**
 * @param initial value without a draft, and after its removal
 * @param preset replaces parts of the draft at first
 * @returns the value, a function that changes it, and one that removes the draft
 */
export function useDraft<T>(
  name: string,
  initial: T,
  preset?: Partial<T>,
): [T, (value: T) => void, (left?: T) => void] {
  const { member } = useSession();
  // Another person may sign in with the same browser.
  const key = `tatami.draft ${member.id} ${name}`;
  const [value, set] = useState<T>(() => {
    const stored = storedAt<T>(key) ?? initial;
    return preset ? { ...initial, ...stored, ...preset } : stored;
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
  const forget = (left = initial): void => {
    set(left);
    localStorage.removeItem(key);
  };
  return [value, change, forget];
}

function storedAt<T>(key: string): T | null {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}
