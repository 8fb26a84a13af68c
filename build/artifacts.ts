// Files embedded in the executable, under the names that `core/app/executable/embedded.ts` imports. Bun embeds files with an unknown
// extension unchanged.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import {
  firstPartyNames,
  packFirstParty,
  publicTriage,
  rulesPlugin,
  readSdkSources,
} from '../core/features/plugins/packages.ts';
import { bundlePrograms } from '../core/platform/sandbox/fleet/spawn.ts';
import { addonOf } from '../core/platform/sandbox/locate.ts';
import { compress } from './compressed.ts';
import { buildDashboard } from './dashboard.ts';
import { withoutSymbols } from './elf.ts';
import { packageFolder } from './packages.ts';
import { cacheDir, root, writeCached } from './paths.ts';
import type { Target } from './targets.ts';

/**
 * Returns the folder of the artifacts. The path is always the same, because names in the bundle derive from
 * it.
 * @param level level of zstd
 */
export async function makeArtifacts(target: Target, level: number): Promise<string> {
  const folder = join(cacheDir, `artifacts-${target.name}-${level}`);
  const write = (name: string, content: string | Uint8Array): void =>
    writeCached(join(folder, name), content);
  const node = readFileSync(join(packageFolder(target.packages.node), 'bin/node'));
  const native = {
    node: withoutSymbols(node),
    'isolated-vm': readFileSync(addonOf(packageFolder('isolated-vm'), 'linux', target.arch)),
    libsql: withoutSymbols(readFileSync(join(packageFolder(target.packages.libsql), 'index.node'))),
  };
  const sizes: Record<string, { bytes: number; sha256: string }> = {};
  for (const [name, whole] of Object.entries(native)) {
    const { content, bytes, sha256 } = await compress(whole, level);
    write(`${name}.part`, content);
    sizes[name] = { bytes, sha256 };
  }
  write('sizes.part', JSON.stringify(sizes));
  const { sidecar, guest } = await bundlePrograms();
  write('sidecar.part', sidecar);
  write('guest.part', guest);
  write('plugins.part', JSON.stringify(await packedPlugins()));
  write('sdk.part', JSON.stringify(readSdkSources(join(root, 'sdk'))));
  write('dashboard.part', await buildDashboard());
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css'])
    write(`${name}.gz`, gzipSync(readFileSync(join(packageFolder('swagger-ui-dist'), name)), { level: 9 }));
  return folder;
}

async function packedPlugins(): Promise<Record<string, unknown>> {
  const packed = [...firstPartyNames(), publicTriage, rulesPlugin].map(
    async (name) => [name, await packFirstParty(name)] as const,
  );
  return Object.fromEntries(await Promise.all(packed));
}
