// Output format of keys and lists of scopes.
import { allScopes } from '../../../kernel/rights/table.ts';
import type { CreatedKey } from '../../setup/rpc-schemas.ts';
import { firstOf } from '../lib/table.ts';

/** A new key, with its text. */
export function createdKeyText(key: CreatedKey): string {
  return [
    `id        ${key.id}`,
    `member    ${key.member.name} (${key.member.id})`,
    `scopes    ${shortScopes(key.scopes)}`,
    `expires   ${key.expiresAt ?? 'never'}`,
    `key       ${key.key}   (shown only once)`,
  ].join('\n');
}

export function shortScopes(scopes: readonly string[]): string {
  const held = new Set(scopes);
  if (allScopes.every((scope) => held.has(scope))) return 'all';
  return firstOf(scopes);
}
