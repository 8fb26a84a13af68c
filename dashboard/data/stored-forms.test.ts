import { expect, test } from 'bun:test';
import { storedForms } from './stored-forms.ts';

/** Storage of a tab. */
function storage(): Storage {
  const entries = new Map<string, string>();
  return {
    get length() {
      return entries.size;
    },
    key: (at) => [...entries.keys()][at] ?? null,
    getItem: (key) => entries.get(key) ?? null,
    setItem: (key, value) => void entries.set(key, value),
    removeItem: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  };
}

test('a stored form is available to the next page of the tab, and to no later one', () => {
  const tab = storage();
  tab.setItem('tatami.theme', '"dark"');
  storedForms(tab).store('new', { name: 'CI' });
  const next = storedForms(tab);
  expect(next.find('new')).toEqual({ name: 'CI' });
  expect(next.find('other')).toBeUndefined();
  expect(tab.length).toBe(1);
  expect(storedForms(tab).find('new')).toBeUndefined();
});

test('a form is restored once', () => {
  const tab = storage();
  storedForms(tab).store('new', { name: 'CI' });
  const next = storedForms(tab);
  next.remove('new');
  expect(next.find('new')).toBeUndefined();
});

test('a form is deleted after five minutes, and so is an unreadable one', () => {
  const tab = storage();
  storedForms(tab, () => 0).store('new', 'CI');
  expect(storedForms(tab, () => 299_999).find('new')).toBe('CI');
  storedForms(tab, () => 0).store('new', 'CI');
  tab.setItem('tatami.form broken', '{');
  const later = storedForms(tab, () => 300_000);
  expect([later.find('new'), later.find('broken')]).toEqual([undefined, undefined]);
  expect(tab.length).toBe(0);
});
