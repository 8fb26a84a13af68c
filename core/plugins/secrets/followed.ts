// Which secrets another version of a plugin takes over: those that it sends where the version before did. Whoever set one did so for these
// hosts.
import type { PluginManifest, SecretRequest } from '../../../sdk/plugin/manifest.ts';
import type { Install } from '../installs/schema.ts';

export function followedSecrets(
  { secretsSet, manifest: before }: Pick<Install, 'secretsSet' | 'manifest'>,
  now: Pick<PluginManifest, 'secrets'>,
): { readonly set: Install['secretsSet']; readonly dropped: readonly string[] } {
  const isKept = (name: string): boolean => isCovered(now.secrets?.[name], before.secrets?.[name]);
  const entries = Object.entries(secretsSet);
  return {
    set: Object.fromEntries(entries.filter(([name]) => isKept(name))),
    dropped: entries.map(([name]) => name).filter((name) => !isKept(name)),
  };
}

function isCovered(now: SecretRequest | undefined, before: SecretRequest | undefined): boolean {
  return (
    now !== undefined &&
    before !== undefined &&
    now.header.toLowerCase() === before.header.toLowerCase() &&
    now.hosts.every((host) => before.hosts.includes(host))
  );
}
