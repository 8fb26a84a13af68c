// Scopes: `<namespace>:<read|write>`; write implies read. docs/spec/api.md › Scopes.
import type { Contract } from '../contract/contract.ts';
import { contracts } from '../../features/contracts.ts';
import { readScopeOf } from './rights.ts';

/** Namespaces of events that belong to several resources. */
const ofEvents = ['automations'];

const namespaces = new Set([...contracts.map(({ path, scope = path }) => scope), ...ofEvents]);

export const allScopes: readonly string[] = [
  ...new Set([
    ...[...namespaces].flatMap((namespace) => [`${namespace}:read`, `${namespace}:write`]),
    ...contracts.flatMap(({ subscriptionScope }: Contract) => subscriptionScope ?? []),
    'approvals:write',
    'audit:read',
    'backtests:write',
    'events:read',
    'import:write',
  ]),
];

/** Scopes that another scope includes, but that can also be granted separately. */
const parts: Readonly<Record<string, string>> = { 'plugins:write': 'backtests:write' };

/** Returns the scopes plus the reads that writes imply and the included scopes. */
export function expandScopes(scopes: readonly string[]): ReadonlySet<string> {
  const all = new Set(scopes);
  for (const scope of scopes) {
    all.add(readScopeOf(scope));
    const part = parts[scope];
    if (part !== undefined) all.add(part);
  }
  return all;
}
