// Opens the command palette and the list of shortcuts from anywhere. Their contents load when they are first opened.
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { Button } from '../../parts/button.tsx';
import { Opening } from '../../parts/overlay/dialog.tsx';
import { text as shell } from '../../text/shell.ts';
import { text } from '../../text/palette.ts';

const Commands = lazy(() => import('./commands.tsx'));
const ShortcutList = lazy(() => import('./shortcut-list.tsx'));

const openKeys = /mac|iphone|ipad/i.test(navigator.platform) ? '⌘ K' : 'Ctrl K';

export function Palette(): ReactNode {
  const [shown, show] = useState<'commands' | 'shortcuts' | null>(null);
  useShortcuts([
    { keys: 'mod+k', label: text.title, run: () => show('commands') },
    { keys: '?', label: text.shortcuts, run: () => show('shortcuts') },
  ]);
  const close = (): void => show(null);
  return (
    <>
      <Button look="plain" onClick={() => show('commands')} aria-keyshortcuts="Control+K Meta+K">
        <span className="grow">{shell.search}</span>
        <kbd className="soft" aria-hidden="true">
          {openKeys}
        </kbd>
      </Button>
      <Suspense fallback={<Opening />}>
        {shown === 'commands' && <Commands onClose={close} onShortcuts={() => show('shortcuts')} />}
        {shown === 'shortcuts' && <ShortcutList onClose={close} />}
      </Suspense>
    </>
  );
}
