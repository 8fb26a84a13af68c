// Stores the secrets of an install, encrypted and bound to workspace, install and name, and decides which of them a version gets.
import { sealedFor, type Sealing } from '../../../platform/lib/secrets/sealing.ts';
import type { Op, Scope, Store } from '../../../platform/store/store.ts';
import type { PluginManifest, SecretRequest } from '../../../../sdk/plugin/manifest.ts';
import type { Install } from '../installs/model.ts';
import { pluginSecretTable } from '../tables.ts';

const ofInstall = pluginSecretTable.select('of_install', ['name', 'sealed'], ['install_id']);
const storeSecret = pluginSecretTable.upsert('store', ['id', 'install_id', 'name', 'sealed'], ['sealed']);
const drop = pluginSecretTable.remove('drop', ['id']);
const dropAll = pluginSecretTable.remove('drop_all', ['install_id']);

const idOf = (installId: string, name: string): string => `${installId}/${name}`;

/** Returns the secrets by name. @throws Error if one cannot be decrypted */
export async function openSecrets(
  { store, sealing }: { readonly store: Store; readonly sealing: Sealing },
  scope: Scope,
  installId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await ofInstall.all(store, scope, { install_id: installId });
  return new Map(
    rows.map(({ name, sealed }) => {
      const purpose = sealedFor('plugin-secret', scope.workspaceId, idOf(installId, name));
      return [name, sealing.open(new Uint8Array(sealed), purpose)];
    }),
  );
}

export function storeSecretOp(
  { scope, sealing }: { readonly scope: Scope; readonly sealing: Sealing },
  installId: string,
  name: string,
  value: string,
): Op {
  const id = idOf(installId, name);
  const sealed = sealing.seal(value, sealedFor('plugin-secret', scope.workspaceId, id));
  return storeSecret(scope, { id, install_id: installId, name, sealed });
}

export function dropSecretOp(scope: Scope, installId: string, name: string): Op {
  return drop(scope, { id: idOf(installId, name) });
}

export function dropSecretsOp(scope: Scope, installId: string): Op {
  return dropAll(scope, { install_id: installId });
}

/** Secrets by name, as declared by the last version that had them. */
export type Declared = Readonly<Record<string, SecretRequest>>;

/** Returns the names of set secrets that the installed version does not declare. */
export function asleepIn({ secretsSet, manifest }: Install): string[] {
  return Object.keys(secretsSet).filter((name) => !Object.hasOwn(manifest.secrets ?? {}, name));
}

/**
 * Decides which secrets a new version takes over: only secrets that it sends to the same hosts in the same
 * header, because an admin set them for these hosts. After a downgrade, secrets that the older version does
 * not declare are retained, hidden from its runs.
 */
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
