// Keyboard shortcuts of the screens. They are inert while the person types and while a dialog is open, unless they have
// a modifier, and can be switched off in the preferences.
import { useEffect, useRef } from 'react';
import { preferences } from '../data/preferences.ts';

export interface Shortcut {
  /** Key as in `KeyboardEvent.key`, in lower case, with `mod+` for Ctrl or ⌘ and `shift+`: `c`, `shift+j`, `mod+k`. */
  readonly keys: string;
  /** Shown in the list of shortcuts. */
  readonly label: string;
  run(event: KeyboardEvent): void;
}

interface Registered {
  readonly list: () => readonly Shortcut[];
}

const active: Registered[] = [];

/** Returns the shortcuts that work now. */
export function activeShortcuts(): readonly Shortcut[] {
  return active.flatMap(({ list }) => list());
}

/** Makes shortcuts work while the component is shown. Later components come first. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  useEffect(() => {
    const registered = { list: () => current.current };
    active.unshift(registered);
    return () => void active.splice(active.indexOf(registered), 1);
  }, []);
}

function keysOf(event: KeyboardEvent): string {
  const key = event.key.toLowerCase();
  const mod = event.ctrlKey || event.metaKey ? 'mod+' : '';
  // The shift of `?` is part of the key.
  const shift = event.shiftKey && (key.length > 1 || /[a-z]/.test(key)) ? 'shift+' : '';
  return mod + shift + key;
}

function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable=true]') !== null
  );
}

/** Parts that take the keys while they are open or their code loads. */
const openSelector = '[role=dialog], [role=alertdialog], [role=menu], [role=listbox], [data-opening]';

/** Starts to listen for the shortcuts of all components. */
export function startShortcuts(): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return;
    const keys = keysOf(event);
    const isPlain = !keys.startsWith('mod+');
    const isElsewhere = isTyping(event) || document.querySelector(openSelector) !== null;
    // WCAG 2.2, 2.1.4 requires that shortcuts without a modifier can be switched off.
    if (isPlain && (isElsewhere || !preferences().singleKeyShortcuts)) return;
    const shortcut = activeShortcuts().find((one) => one.keys === keys);
    if (!shortcut) return;
    event.preventDefault();
    shortcut.run(event);
  });
}
