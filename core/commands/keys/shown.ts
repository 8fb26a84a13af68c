// How keys are shown to people: lists of scopes in a few words, times to the minute, columns.
import { allScopes } from '../../rights/scopes.ts';
import type { MadeKey } from '../../setup/keys/orders.ts';

const named = 3;

/** A new key, with its text. */
export function madeText(key: MadeKey): string {
  return [
    `id        ${key.id}`,
    `member    ${key.member.name} (${key.member.id})`,
    `scopes    ${shortScopes(key.scopes)}`,
    `expires   ${key.expiresAt ?? 'never'}`,
    `key       ${key.key}   (shown this once)`,
  ].join('\n');
}

export function shortScopes(scopes: readonly string[]): string {
  const held = new Set(scopes);
  if (allScopes.every((scope) => held.has(scope))) return 'all';
  if (scopes.length <= named) return scopes.join(',');
  return `${scopes.slice(0, named - 1).join(',')} and ${scopes.length - named + 1} more`;
}

/** @param iso a time in UTC */
export function minuteOf(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)}Z`;
}

/** Lines of columns, each as wide as its widest cell. */
export function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
