// State of forms that is restored after the person confirmed the sign-in, for which the browser leaves the page.
import { useEffect, useState, type Dispatch, type SetStateAction } from 'react';
import { leaveEvent } from './client.ts';
import { useSession } from './provider.tsx';
import { storedForms } from './stored-forms.ts';

const forms = storedForms(sessionStorage);

/**
 * State like that of `useState`. A changed value is stored while the person confirms the sign-in, and is the first
 * value afterwards, once.
 * @param name name of the form, unique on its page
 * @param toStored removes secrets
 */
export function useRetained<T>(
  name: string,
  initial: T,
  toStored: (value: T) => T = (value) => value,
): [T, Dispatch<SetStateAction<T>>] {
  const { member, workspace } = useSession();
  // Another person may sign in with the same tab.
  const key = `${workspace.id} ${member.id} ${location.pathname} ${name}`;
  const [unchanged] = useState(initial);
  const [value, set] = useState<T>(() => (forms.find(key) as T | undefined) ?? unchanged);
  useEffect(() => forms.remove(key), [key]);
  useEffect(() => {
    const store = (event: Event): void => {
      if (value === unchanged) return;
      forms.store(key, toStored(value));
      event.preventDefault();
    };
    addEventListener(leaveEvent, store);
    return () => removeEventListener(leaveEvent, store);
  }, [key, value, unchanged, toStored]);
  return [value, set];
}
