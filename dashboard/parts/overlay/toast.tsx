// Short messages after an action. Screen readers announce them.
import { ApiCallError } from '@tatami/sdk/client';
import { useSyncExternalStore, type ReactNode } from 'react';
import { confirmSignIn, noteRefusal, storeForms } from '../../data/client.ts';
import { text } from '../../text/common.ts';
import { Button } from '../button.tsx';
import { Icon } from '../icon.tsx';
import { messageOf } from '../states.tsx';
import styles from '../parts.module.css';

interface Toast {
  readonly id: number;
  readonly message: string;
  readonly isProblem: boolean;
  readonly action: { readonly label: string; readonly run: () => void } | null;
}

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();
const shownMs = 6_000;
/** An action needs time to be read, decided on and reached. */
const actionMs = 20_000;
const retryMs = 1_000;

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const remove = (id: number): void => set(toasts.filter((toast) => toast.id !== id));

/** Removes a message after its time, but not while the pointer or the focus is on it. */
function removeAfter(ms: number, id: number): void {
  setTimeout(() => {
    const isUsed = document.querySelector(`[data-toast="${id}"]:is(:hover, :focus-within)`) !== null;
    if (isUsed) removeAfter(retryMs, id);
    else remove(id);
  }, ms);
}

function add(toast: Omit<Toast, 'id'>): void {
  const id = nextId++;
  set([...toasts.slice(-2), { ...toast, id }]);
  // A problem stays until it is closed, because its reader may need it.
  if (!toast.isProblem) removeAfter(toast.action ? actionMs : shownMs, id);
}

/** Shows a message, with an action such as undo. */
export function notify(message: string, action: Toast['action'] = null): void {
  add({ message, isProblem: false, action });
}

/** Shows why a write failed, and what to do. An open form that can be restored gives way to the confirmation at once. */
export function notifyProblem(error: unknown): void {
  const isStale = error instanceof ApiCallError && error.code === 'recent_sign_in_required';
  if (error instanceof ApiCallError && error.status === 403 && !isStale) noteRefusal();
  if (isStale && storeForms()) return confirmSignIn();
  const action = isStale ? { label: text.confirmSignIn, run: confirmSignIn } : null;
  add({ message: isStale ? text.confirmSignInHint : messageOf(error), isProblem: true, action });
}

export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className={styles.toasts} role="status" aria-live="polite">
      {shown.map(({ id, message, isProblem, action }) => (
        <div key={id} data-toast={id} className={`${styles.toast} ${isProblem ? 'notice problem' : ''}`}>
          <span className="grow">{message}</span>
          {action && (
            <Button
              look="plain"
              onClick={() => {
                remove(id);
                action.run();
              }}
            >
              {action.label}
            </Button>
          )}
          <Button look="plain" isIcon aria-label={text.close} onClick={() => remove(id)}>
            <Icon name="close" />
          </Button>
        </div>
      ))}
    </div>
  );
}
