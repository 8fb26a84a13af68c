// Which secrets another version of a plugin takes over: those that it sends where the version before did. Whoever set one did so for these
// hosts. A version that is gone back to and does not know a secret leaves it asleep for the way forward: no run is told of it.
import type { PluginManifest, SecretRequest } from '../../../sdk/plugin/manifest.ts';
import type { Install } from '../installs/schema.ts';

/** Secrets by name, as the last version declared them that did. */
export type Declared = Readonly<Record<string, SecretRequest>>;

/** Names of those that the installed version does not declare. */
export function asleepIn({ secretsSet, manifest }: Pick<Install, 'secretsSet' | 'manifest'>): string[] {
  return Object.keys(secretsSet).filter((name) => !Object.hasOwn(manifest.secrets ?? {}, name));
}

export function followedSecrets(
  { secretsSet, manifest: before }: Pick<Install, 'secretsSet' | 'manifest'>,
  now: Pick<PluginManifest, 'secrets' | 'version'>,
  asleep: Declared,
): { readonly set: Install['secretsSet']; readonly dropped: readonly string[] } {
  const isBack = Bun.semver.order(now.version, before.version) < 0;
  const isKept = (name: string): boolean => {
    const request = now.secrets?.[name];
    return request ? isCovered(request, before.secrets?.[name] ?? asleep[name]) : isBack;
  };
  const entries = Object.entries(secretsSet);
  return {
    set: Object.fromEntries(entries.filter(([name]) => isKept(name))),
    dropped: entries.map(([name]) => name).filter((name) => !isKept(name)),
  };
}

function isCovered(now: SecretRequest, before: SecretRequest | undefined): boolean {
  return (
    before !== undefined &&
    now.header.toLowerCase() === before.header.toLowerCase() &&
    now.hosts.every((host) => before.hosts.includes(host))
  );
}
