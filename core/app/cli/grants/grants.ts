// `tatami grants list|revoke`: what members have let apps do. Who logs in with the command line sees that here as well.
import { sayingOf } from '../plugin/author/known.ts';
import { printResult } from '../lib/output.ts';
import { connect, readAll, type RemoteOptions } from '../lib/remote.ts';
import { firstOf, minuteOf, tableOf } from '../lib/table.ts';

interface Grant {
  id: string;
  member: { id: string; name: string };
  client: { id: string; name: string; verified: boolean };
  resource: string;
  scopes: string[];
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export async function listGrants(options: RemoteOptions & { all?: boolean }): Promise<void> {
  const grants = await readAll<Grant>(connect(options), '/grants');
  const chosen = options.all ? grants : grants.filter(({ revokedAt }) => revokedAt === null);
  printResult(chosen, options, (shown) =>
    shown.length === 0
      ? 'No apps are authorized.'
      : tableOf([['ID', 'APP', 'FOR', 'BY', 'SCOPES', 'LAST USED', 'REVOKED'], ...shown.map(rowOf)]).join(
          '\n',
        ),
  );
}

function rowOf({ id, client, member, resource, scopes, lastUsedAt, revokedAt }: Grant): string[] {
  return [
    id,
    `${client.name}${client.verified ? '' : ' (unverified)'}`,
    member.name,
    resource,
    firstOf(scopes),
    lastUsedAt === null ? 'never' : minuteOf(lastUsedAt),
    revokedAt === null ? '-' : minuteOf(revokedAt),
  ];
}

export async function revokeGrant(id: string, options: RemoteOptions): Promise<void> {
  await sayingOf('grant', id, connect(options)('DELETE', `/grants/${encodeURIComponent(id)}`));
  printResult({ id, revoked: true }, options, (shown) => `${shown.id} is revoked; its tokens no longer work`);
}
