// The scopes: `<namespace>:<read|write>`; write implies read. docs/spec/api.md › Scopes.
import { readScopeOf } from './rights.ts';

const namespaces = [
  'issues',
  'comments',
  'labels',
  'workflows',
  'projects',
  'boards',
  'views',
  'cycles',
  'releases',
  'teams',
  'members',
  'inbox',
  'automations',
  'plugins',
  'webhooks',
  'attachments',
  'workspace',
  'api-keys',
] as const;

export const allScopes: readonly string[] = [
  ...namespaces.flatMap((namespace) => [`${namespace}:read`, `${namespace}:write`]),
  'audit:read',
  'events:read',
];

/** The scopes given, with the reads that the writes imply. */
export function expandScopes(scopes: readonly string[]): ReadonlySet<string> {
  const all = new Set(scopes);
  for (const scope of scopes) all.add(readScopeOf(scope));
  return all;
}
