// The scopes: `<namespace>:<read|write>`; write implies read. docs/spec/api.md › Scopes.
import type { Contract } from '../contract/contract.ts';
import { contracts } from '../contracts.ts';
import { readScopeOf } from './rights.ts';

/** Decided, and used by no resource yet: keys may hold them already. */
const planned = ['automations'];

const namespaces = new Set([...contracts.map(({ path, scope = path }) => scope), ...planned]);

export const allScopes: readonly string[] = [
  ...[...namespaces].flatMap((namespace) => [`${namespace}:read`, `${namespace}:write`]),
  ...contracts.flatMap(({ heardBy }: Contract) => heardBy ?? []),
  'audit:read',
  'events:read',
  'import:write',
];

/** The scopes given, with the reads that the writes imply. */
export function expandScopes(scopes: readonly string[]): ReadonlySet<string> {
  const all = new Set(scopes);
  for (const scope of scopes) all.add(readScopeOf(scope));
  return all;
}
