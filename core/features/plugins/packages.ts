// Packs the plugins of folders, and packs and installs the plugins that ship with Tatami. The compiled
// executable contains the packed plugins and the sources of the SDK.
import {
  PackageError,
  type PackageSourceMap,
  parsePackage,
  type PluginPackage,
} from '../../../sdk/plugin/manifest.ts';
import { DefinitionError, describePlugin } from '../../platform/sandbox/describe.ts';
import { sourceMapLookupOf, positionText, readStack, withSourcePositions } from './source-positions.ts';
import { readFileSync, existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SdkFiles } from '../../../sdk/plugin/bundle.ts';
import { embedded } from '../../platform/lib/process/embedded.ts';
import { packPlugin } from '../../../sdk/plugin/pack.ts';
import type { App } from '../../kernel/http/app.ts';
import { allScopes, expandScopes } from '../../kernel/rights/table.ts';
import type { Scope } from '../../platform/store/store.ts';

const folder = join(import.meta.dir, '../../../plugins');

/** Folder and entry of the plugin that is shipped for `POST /triage` only, and cannot be installed by name. */
export const publicTriage = 'auto-triage/general';

/** Folder of the plugin that runs automations, which cannot be installed by name. */
export const rulesPlugin = 'automations';

/** Names by which first-party plugins are installed. */
export function firstPartyNames(): string[] {
  const names = embedded
    ? Object.keys(embedded.plugins())
    : readdirSync(folder).filter((entry) => existsSync(join(folder, entry, 'plugin.ts')));
  return names.filter((name) => name !== publicTriage && name !== rulesPlugin);
}

/** @param name one of `firstPartyNames`, `publicTriage` or `rulesPlugin` */
export async function packFirstParty(name: string): Promise<PluginPackage> {
  if (embedded) return parsePackage(JSON.stringify(embedded.plugins()[name]));
  const [plugin = '', entry] = name.split('/');
  return packPlugin(join(folder, plugin), {
    describe: describePackage,
    ...(entry !== undefined && { entry: `${entry}.ts` }),
  });
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

/** @throws PackageError if the definition cannot be evaluated */
export async function describePackage(code: string, sourceMap: PackageSourceMap | null): Promise<unknown> {
  try {
    return await describePlugin(code);
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const find = sourceMapLookupOf(sourceMap);
    const message = withSourcePositions(error.message, find);
    const { at } = readStack(error.thrownStack, find);
    if (!at) throw new PackageError(pathOf(error.message), message);
    throw new PackageError('', `${positionText(at)}: ${message}`, [{ ...at, message }]);
  }
}

/**
 * Returns the path in the manifest that an error of `sidecar/guest/definition.ts` is about; empty if the
 * message names no part.
 */
function pathOf(message: string): string {
  const [, member, name] =
    /\b(on|schedules|actions|routes)\['(.+)'\] has no handle function/.exec(message) ?? [];
  if (member !== undefined) return `/manifest/${member}/${name}`;
  return message.includes('The default export of a plugin') ? '/manifest' : '';
}

const entry = 'plugin/index.ts';
const imported = /\bfrom '(\.{1,2}\/[^']+)'/g;

/** @throws Error if a file is missing */
export function readSdkSources(folder: string): SdkFiles {
  const files: Record<string, string> = {};
  const add = (file: string): void => {
    if (file in files) return;
    const text = readFileSync(join(folder, file), 'utf8');
    files[file] = text;
    for (const [, path] of text.matchAll(imported)) if (path !== undefined) add(join(dirname(file), path));
  };
  add(entry);
  return files;
}

export function sdkSources(): SdkFiles {
  return embedded?.sdkFiles() ?? readSdkSources(join(import.meta.dir, '../../../sdk'));
}
