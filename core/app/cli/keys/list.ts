// `tatami keys list`: which keys there are, whose they are, when each was last used and when it ends.
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { noWorkspace, type RpcResponses, type ListedKey } from '../../setup/rpc-schemas.ts';
import { printResult } from '../lib/output.ts';
import { minuteOf, tableOf } from '../lib/table.ts';
import { callOperatorRpc, type LocalOptions } from './operator-rpc.ts';
import { shortScopes } from './key-text.ts';

export interface ListOptions extends LocalOptions {
  workspace?: string;
}

/** @param folder where a relative data directory begins */
export async function list(options: ListOptions, folder: string): Promise<void> {
  const { workspace } = options;
  const listed = await callOperatorRpc(options, folder, 'list', workspace === undefined ? {} : { workspace });
  printResult(listed, options, linesOf);
}

function linesOf({ workspaces, keys, hasMore }: RpcResponses['list']): string {
  const now = systemClock.nowMs();
  const parts = workspaces.map(({ id, name }) => {
    const own = keys.filter(({ workspaceId }) => workspaceId === id);
    const rows = own.length === 0 ? ['no keys'] : tableOf([header, ...own.map((key) => rowOf(key, now))]);
    return [...(workspaces.length > 1 ? [`workspace ${id} (${name})`] : []), ...rows].join('\n');
  });
  if (parts.length === 0) return noWorkspace;
  return [...parts, ...(hasMore ? ['Older keys are not shown.'] : [])].join('\n\n');
}

const header = ['ID', 'PREFIX', 'NAME', 'MEMBER', 'SCOPES', 'CREATED', 'LAST USED', 'ENDS'];

function rowOf(key: ListedKey, now: number): string[] {
  const { id, prefix, name, member, scopes, createdAt, lastUsedAt } = key;
  return [
    id,
    prefix,
    name,
    member.name,
    shortScopes(scopes),
    minuteOf(createdAt),
    lastUsedAt === null ? 'never' : minuteOf(lastUsedAt),
    endOf(key, now),
  ];
}

function endOf({ revokedAt, expiresAt, replacedBy }: ListedKey, now: number): string {
  const why = replacedBy === null ? '' : ', rolled';
  if (revokedAt !== null) return `revoked ${minuteOf(revokedAt)}${why}`;
  if (expiresAt === null) return 'never';
  return `${Date.parse(expiresAt) <= now ? 'expired' : 'expires'} ${minuteOf(expiresAt)}${why}`;
}
