// `tatami keys create|list|revoke|roll`, with access to the data directory.
import { systemClock } from '../../platform/lib/time/clock.ts';
import { allScopes } from '../../kernel/rights/table.ts';
import { timeAhead, usage, duration } from './lib/flags.ts';
import { printResult } from './lib/output.ts';
import type { LocalOptions } from './lib/local.ts';
import { callOperatorRpc } from './lib/operator-rpc.ts';
import {
  noWorkspace,
  type RpcResponses,
  type ListedKey,
  graceMsMax,
  type CreatedKey,
} from '../setup/rpc-schemas.ts';
import { minuteOf, tableOf, fewOf } from './lib/table.ts';
import { programName } from '../../platform/lib/process/own-program.ts';
import { quoted } from '../../platform/lib/text/printable.ts';

export interface CreateKeyOptions extends LocalOptions {
  workspace?: string;
  member?: string;
  name: string;
  scopes?: string;
  expires?: string;
}

export async function createKey(options: CreateKeyOptions, folder: string): Promise<void> {
  const { workspace, member, name, expires } = options;
  if (name.trim() === '' || name.length > 80) throw usage('--name must have 1 to 80 characters.');
  const made = await callOperatorRpc(options, folder, 'create', {
    ...(workspace === undefined ? {} : { workspace }),
    ...(member === undefined ? {} : { member }),
    name,
    scopes: scopesOf(options.scopes),
    expiresAt: expires === undefined ? null : timeAhead('--expires', expires, systemClock.nowMs()),
  });
  printResult(made, options, (key) => `workspace ${key.workspaceId}\n${createdKeyText(key)}`);
}

/** @throws CommandError */
function scopesOf(list: string | undefined): string[] {
  if (list === undefined) return [...allScopes];
  const scopes = list.split(',').map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !allScopes.includes(scope));
  if (unknown !== undefined) throw usage(`Unknown scope "${unknown}". Use ${allScopes.join(', ')}.`);
  return [...new Set(scopes)];
}

export interface ListKeysOptions extends LocalOptions {
  workspace?: string;
}

export async function listKeys(options: ListKeysOptions, folder: string): Promise<void> {
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

export async function revokeKey(key: string, options: LocalOptions, folder: string): Promise<void> {
  const revoked = await callOperatorRpc(options, folder, 'revoke', { key });
  printResult(
    revoked,
    options,
    ({ id, name, member, revokedAt }) => `${id} (${name}, of ${member.name}) was revoked at ${revokedAt}`,
  );
}

export interface RollKeyOptions extends LocalOptions {
  grace: string;
  allScopes?: boolean;
  expires?: string;
}

/** Creates a key in place of another, which stays valid for a grace period. */
export async function rollKey(key: string, options: RollKeyOptions, folder: string): Promise<void> {
  const { grace, allScopes = false, expires, dataDir } = options;
  const where = dataDir === undefined ? '' : ` --data-dir ${quoted(dataDir)}`;
  const rolled = await callOperatorRpc(options, folder, 'roll', {
    key,
    graceMs: duration('--grace', grace, graceMsMax),
    allScopes,
    ...(expires === undefined
      ? {}
      : { expiresAt: expires === 'never' ? null : timeAhead('--expires', expires, systemClock.nowMs()) }),
  });
  printResult(rolled, options, ({ previous, ...successor }) =>
    [
      `old       ${previous.id} ${
        previous.revokedAt === null
          ? `works until ${previous.expiresAt}; \`${programName} keys revoke ${previous.id}${where}\` revokes it now`
          : 'is revoked'
      }`,
      createdKeyText(successor),
    ].join('\n'),
  );
}

function createdKeyText(key: CreatedKey): string {
  return [
    `id        ${key.id}`,
    `member    ${key.member.name} (${key.member.id})`,
    `scopes    ${shortScopes(key.scopes)}`,
    `expires   ${key.expiresAt ?? 'never'}`,
    `key       ${key.key}   (shown only once)`,
  ].join('\n');
}

function shortScopes(scopes: readonly string[]): string {
  const held = new Set(scopes);
  if (allScopes.every((scope) => held.has(scope))) return 'all';
  return fewOf(scopes);
}
