// Output format of a login, without tokens.
import type { Login } from './credentials.ts';

export type LoginSummary = Pick<Login, 'server' | 'workspace' | 'member' | 'scopes'>;

export function toLoginSummary({ server, workspace, member, scopes }: Login): LoginSummary {
  return { server, workspace, member, scopes };
}
