// `tatami whoami`: for whom commands act, where, and what they may do.
import { callOf, remoteOf, type RemoteOptions } from '../lib/remote.ts';
import { printResult } from '../lib/output.ts';

interface Me {
  member: { id: string; name: string; role: string };
  workspace: { id: string; name: string };
  scopes: string[];
  key: { expiresAt: string | null } | null;
}

interface WhoamiOutput {
  server: string;
  workspace: { id: string; name: string };
  member: { id: string; name: string; role: string };
  by: 'login' | 'key';
  /** Effective scopes. */
  scopes: string[];
  /** Expiry of the key, or of the access token of a login, which is renewed automatically. */
  expiresAt: string | null;
}

export async function whoami(options: RemoteOptions): Promise<void> {
  const remote = remoteOf(options);
  const { server, access } = remote;
  const { member, workspace, scopes, key } = await callOf(remote)<Me>('GET', '/me');
  const shown: WhoamiOutput = {
    server,
    workspace: { id: workspace.id, name: workspace.name },
    member: { id: member.id, name: member.name, role: member.role },
    by: access === null ? 'key' : 'login',
    scopes,
    expiresAt: key?.expiresAt ?? access?.current().expiresAt ?? null,
  };
  printResult(shown, options, linesOf);
}

function linesOf({ server, workspace, member, by, scopes, expiresAt }: WhoamiOutput): string {
  const until = by === 'login' ? `${expiresAt} (renewed automatically)` : (expiresAt ?? 'never');
  return [
    `server     ${server}`,
    `workspace  ${workspace.name} (${workspace.id})`,
    `member     ${member.name} (${member.id}), ${member.role}`,
    `by         ${by === 'login' ? 'tatami login' : 'an API key'}`,
    `scopes     ${scopes.join(',')}`,
    `expires    ${until}`,
  ].join('\n');
}
