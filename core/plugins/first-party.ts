// Installs a plugin that comes with Tatami: packs its folder and sends the package through the door, granting what its
// manifest asks.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packPlugin } from '../../sdk/plugin/pack.ts';
import type { PluginPackage } from '../../sdk/plugin/manifest.ts';
import type { App } from '../http/app.ts';
import type { InProcessCalls } from '../http/principal.ts';
import { allScopes, expandScopes } from '../rights/scopes.ts';
import { describePlugin } from '../sandbox/describe.ts';
import type { Scope } from '../store/store.ts';

const folder = join(import.meta.dir, '../../plugins');

export function firstPartyNames(): string[] {
  return readdirSync(folder).filter((entry) => existsSync(join(folder, entry, 'plugin.ts')));
}

/** @param name one of `firstPartyNames` */
export async function packFirstParty(name: string): Promise<PluginPackage> {
  return packPlugin(join(folder, name), { describe: describePlugin });
}

/** @throws Error with the answer when the door refuses it */
export async function installFirstParty(
  door: { app: App; inProcess: InProcessCalls },
  scope: Scope,
  name: string,
): Promise<{ id: string }> {
  const document = await packFirstParty(name);
  const request = new Request('http://tatami.internal/api/v1/plugins', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ package: document, grant: Object.keys(document.manifest.scopes ?? {}) }),
  });
  door.inProcess.attach(request, {
    principal: {
      scope,
      actor: { kind: 'system', id: 'setup', name: 'Setup' },
      scopes: expandScopes(allScopes),
      narrowed: null,
      tokenId: 'setup',
    },
    cause: null,
    staged: null,
    traceparent: null,
  });
  const response = await door.app.fetch(request);
  if (!response.ok) throw new Error(`The plugin ${name} could not be installed: ${await response.text()}`);
  return (await response.json()) as { id: string };
}
