// Packs a plugin from its source text as the CLI packs a folder, and installs it through the API.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describePackage } from '../../../core/features/plugins/packages.ts';
import { staticManifest } from '../../../core/platform/sandbox/sidecar/guest/definition.ts';
import type { PackageSourceMap, PluginPackage } from '../../../sdk/plugin/manifest.ts';
import { packPlugin } from '../../../sdk/plugin/pack.ts';
import type { Client, Json } from '../../app.ts';

/** Packages by source: many tests install the same one, and packing takes longer than their other steps. */
const packed = new Map<string, Promise<PluginPackage>>();

/** @param definition the argument of definePlugin; `prelude` goes before it, at module level */
export async function packSource(definition: string, prelude = ''): Promise<PluginPackage> {
  const source = `import { definePlugin, RetryLater, Drop } from '@tatami/sdk/plugin';\nvoid [RetryLater, Drop];\n${prelude}\nexport default definePlugin<any, any>(${definition});\n`;
  const known = packed.get(source) ?? pack(source);
  packed.set(source, known);
  return structuredClone(await known);
}

async function pack(source: string): Promise<PluginPackage> {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-plugin-'));
  try {
    writeFileSync(join(dir, 'plugin.ts'), source);
    const describe = (code: string, map: PackageSourceMap | null): Promise<unknown> =>
      describeHere(join(dir, 'bundle.js'), code).catch(() => describePackage(code, map));
    return await packPlugin(dir, { describe });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/**
 * Reads the definition in this process instead of a sidecar: test plugins are trusted, and a sidecar takes 0.15 s of
 * CPU time.
 */
async function describeHere(path: string, code: string): Promise<unknown> {
  writeFileSync(path, code);
  const { default: definition } = (await import(path)) as { default: unknown };
  return JSON.parse(staticManifest(definition));
}

/** Installs with every scope of the manifest unless `grant` says otherwise, and ends probation. @returns the install */
export async function install(call: Client, document: PluginPackage, more: object = {}): Promise<Json> {
  const grant = Object.keys(document.manifest.scopes ?? {});
  const { status, json } = await call('POST', '/api/v1/plugins', {
    ...{ package: document, grant, probation: false, replace: true },
    ...more,
  });
  if (status !== 201 && status !== 200)
    throw new Error(`install answered ${status}: ${JSON.stringify(json)}`);
  return json;
}

/** Installs a plugin whose schedule `work` fires at 03:00. @param more members of the schedule besides its handler */
export async function installSchedule(call: Client, id: string, handle: string, more = ''): Promise<void> {
  const schedule = `{ cron: '0 3 * * *', ${more} handle: ${handle} }`;
  await install(
    call,
    await packSource(
      `{ id: '${id}', version: '1.0.0', engines: { tatami: '*' }, schedules: { work: ${schedule} } }`,
    ),
  );
}

export const allTrackerScopes = `{
  'issues:write': { why: 'test' }, 'comments:write': { why: 'test' }, 'labels:read': { why: 'test' }, 'projects:read': { why: 'test' },
}`;
