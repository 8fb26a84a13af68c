// Parts that open over a screen. Their code, most of which is of packages, loads when a person starts to use the page,
// or when something opens before that.
import { lazyRouteComponent } from '@tanstack/react-router';

export const OpenDialog = lazyRouteComponent(() => import('./open-dialog.tsx'));
export const OpenMenu = lazyRouteComponent(() => import('./open-menu.tsx'));
export const OpenPicker = lazyRouteComponent(() => import('./open-picker.tsx'));
export const OpenIssueDialog = lazyRouteComponent(() => import('../issue/open-issue-dialog.tsx'));

/** False while rendering the part would have to wait. */
export const isLoaded = ({ preload }: { readonly preload?: unknown }): boolean => preload === undefined;

const signs = ['pointermove', 'pointerdown', 'keydown'] as const;

/** Loads the code with the next sign that somebody uses the page. @returns a function that stops waiting for it */
export function loadWhenUsed(): () => void {
  const used = new AbortController();
  const load = (): void => {
    used.abort();
    for (const { preload } of [OpenDialog, OpenMenu, OpenPicker, OpenIssueDialog]) void preload?.();
  };
  for (const sign of signs) addEventListener(sign, load, { signal: used.signal, passive: true });
  return () => used.abort();
}
