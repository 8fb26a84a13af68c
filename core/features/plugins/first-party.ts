// Packs and installs the plugins that ship with Tatami, with all scopes that they request. The compiled
// executable contains them packed.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parsePackage, type PluginPackage } from '../../../sdk/plugin/manifest.ts';
import { packPlugin } from '../../../sdk/plugin/pack.ts';
import type { App } from '../../kernel/http/app.ts';
import { embedded } from '../../platform/lib/process/own-program.ts';
import { describePackage } from './describe.ts';
import { allScopes, expandScopes } from '../../kernel/rights/table.ts';
import type { Scope } from '../../platform/store/store.ts';

const folder = join(import.meta.dir, '../../../plugins');

/** Shipped for `POST /triage` only; not installable by name. */
export const publicTriage = 'auto-triage/general';

export function firstPartyNames(): string[] {
  if (embedded) return Object.keys(embedded.plugins()).filter((name) => name !== publicTriage);
  return readdirSync(folder).filter((entry) => existsSync(join(folder, entry, 'plugin.ts')));
}

/** @param name one of `firstPartyNames`, or `publicTriage` */
export async function packFirstParty(name: string): Promise<PluginPackage> {
  if (embedded) return parsePackage(JSON.stringify(embedded.plugins()[name]));
  const options = { describe: describePackage };
  if (name === publicTriage)
    return packPlugin(join(folder, 'auto-triage'), { ...options, entry: 'general.ts' });
  return packPlugin(join(folder, name), options);
}

/** @throws Error with the reason if the install request is refused */
export async function installFirstParty(app: App, scope: Scope, name: string): Promise<{ id: string }> {
  const document = await packFirstParty(name);
  const install = app.caller((body) => ({ taken: (body as { id: string }).id, bytes: 0 }));
  const outcome = await install(app.route('plugins.install'), {
    principal: {
      scope,
      actor: { kind: 'system', id: 'setup', name: 'Setup' },
      scopes: expandScopes(allScopes),
      narrowed: null,
      tokenId: 'setup',
    },
    isCounted: false,
    params: {},
    // The code ships with the server, so it needs no probation.
    body: {
      package: document,
      sha256: document.sha256,
      probation: false,
      grant: Object.keys(document.manifest.scopes ?? {}),
    },
  });
  const { error } = outcome;
  if (error) throw new Error(`The plugin ${name} could not be installed: ${error.message}`, { cause: error });
  return { id: outcome.body };
}
