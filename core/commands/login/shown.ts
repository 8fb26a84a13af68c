// How a login is shown: never with its tokens.
import type { Login } from './credentials.ts';

export type ShownLogin = Pick<Login, 'server' | 'workspace' | 'member' | 'scopes'>;

export function shownLogin({ server, workspace, member, scopes }: Login): ShownLogin {
  return { server, workspace, member, scopes };
}
