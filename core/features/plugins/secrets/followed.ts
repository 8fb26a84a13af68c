// Decides which secrets a new version of a plugin takes over: only secrets that it sends to the same hosts in
// the same header, because an admin set them for these hosts. After a downgrade, secrets that the older
// version does not declare are retained, hidden from its runs.
import type { PluginManifest, SecretRequest } from '../../../../sdk/plugin/manifest.ts';
import type { Install } from '../installs/schema.ts';

/** Secrets by name, as declared by the last version that had them. */
export type Declared = Readonly<Record<string, SecretRequest>>;

/** Returns the names of set secrets that the installed version does not declare. */
export function asleepIn({ secretsSet, manifest }: Install): string[] {
  return Object.keys(secretsSet).filter((name) => !Object.hasOwn(manifest.secrets ?? {}, name));
}

export function followedSecrets(
  { secretsSet, manifest: before }: Install,
  now: PluginManifest,
  asleep: Declared,
): { readonly set: Install['secretsSet']; readonly dropped: readonly string[] } {
  const isBack = Bun.semver.order(now.version, before.version) < 0;
  const isRetained = (name: string): boolean => {
    const request = now.secrets?.[name];
    return request ? isCovered(request, before.secrets?.[name] ?? asleep[name]) : isBack;
  };
  const entries = Object.entries(secretsSet);
  return {
    set: Object.fromEntries(entries.filter(([name]) => isRetained(name))),
    dropped: entries.map(([name]) => name).filter((name) => !isRetained(name)),
  };
}

function isCovered(now: SecretRequest, before: SecretRequest | undefined): boolean {
  return (
    before !== undefined &&
    now.header.toLowerCase() === before.header.toLowerCase() &&
    now.hosts.every((host) => before.hosts.includes(host))
  );
}
