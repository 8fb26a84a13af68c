// The client of this tab, with the session of the person and the workspace of the tab.
import { ApiCallError, createClient, type Client } from '@tatami/sdk/client';
import { SessionTokens, type Exchanged, type SessionSource } from './session.ts';

const workspaceKey = 'tatami.workspace';

function sourceOfPage(): SessionSource {
  const formToken = document.querySelector<HTMLMetaElement>('meta[name=form-token]')!.content;
  const named = new URLSearchParams(location.search).get('workspace');
  return { formToken, workspace: named ?? localStorage.getItem(workspaceKey) };
}

export interface TabSession {
  readonly source: SessionSource;
  readonly client: Client;
  token(): Promise<string>;
  readonly exchanged: Exchanged;
  /** Reads name, role and recent sign-in of the person again. */
  renew(): Promise<Exchanged>;
}

/** @throws ApiCallError; `not_found` for a workspace of others */
export async function openSession(): Promise<TabSession> {
  const asked = sourceOfPage();
  const isNamed = new URLSearchParams(location.search).has('workspace');
  const first = new SessionTokens(asked);
  try {
    return sessionOf(asked, first, await first.exchange());
  } catch (error) {
    // The stored workspace is a convenience, and the person may have left it.
    if (isNamed || asked.workspace === null || !(error instanceof ApiCallError) || error.status !== 404)
      throw error;
    const source = { ...asked, workspace: null };
    const tokens = new SessionTokens(source);
    return sessionOf(source, tokens, await tokens.exchange());
  }
}

function sessionOf(asked: SessionSource, tokens: SessionTokens, exchanged: Exchanged): TabSession {
  localStorage.setItem(workspaceKey, exchanged.workspace.id);
  const client = createClient({
    server: location.origin,
    token: (rejected) => tokens.token(rejected),
    attemptsMax: 3,
    timeoutMs: 30_000,
    // A change shows before the server answers, and the person may leave the page at once.
    outlivesPage: true,
  });
  return {
    source: { ...asked, workspace: exchanged.workspace.id },
    client,
    token: () => tokens.token(),
    exchanged,
    renew: () => tokens.exchange(),
  };
}

/** Event of the window before a confirmation of the sign-in. A form that stores its state prevents the default. */
export const leaveEvent = 'tatami-leave';

/** Stores what was typed in open forms. @returns true if there is such a form */
export const storeForms = (): boolean => !dispatchEvent(new Event(leaveEvent, { cancelable: true }));

/** Sends the person to confirm the sign-in and back to the present page. */
export function confirmSignIn(): void {
  storeForms();
  leaveToSignIn('/sign-in/again');
}

const refused = 'tatami:refused';

/** Tells the app that the person lacks a right, so that it reads the rights again. */
export const noteRefusal = (): void => void dispatchEvent(new Event(refused));

export function onRefusal(listener: () => void): () => void {
  addEventListener(refused, listener);
  return () => removeEventListener(refused, listener);
}

/** Sends the person to the sign-in page and back to the present page. */
export function leaveToSignIn(path = '/sign-in'): void {
  const to = location.pathname + location.search;
  location.assign(`${path}?${new URLSearchParams({ to }).toString()}`);
}
