// Finds isolated-vm's prebuilt addon and the bundled Node: in the dependencies, or in the executable.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { embedded } from '../lib/process/embedded.ts';

/** NODE_MODULE_VERSION of Node 24; the addon loads in no other version. */
const nodeAbi = 137;

/** Returns the path of the addon. @throws Error if there is no prebuilt addon for this platform */
export function findAddon(): string {
  if (embedded) return embedded.isolatedVmPath();
  const root = dirname(createRequire(import.meta.url).resolve('isolated-vm/package.json'));
  const path = addonOf(root, process.platform, process.arch);
  if (!existsSync(path))
    throw new Error(
      `Plugins cannot run on this platform: isolated-vm has no build for ${process.platform}-${process.arch}. Run the server on Linux with x64 or arm64.`,
    );
  return path;
}

/** @param root directory of the package isolated-vm */
export function addonOf(root: string, platform: string, arch: string): string {
  const libc = platform !== 'linux' ? '' : existsSync('/lib/ld-musl-x86_64.so.1') ? '.musl' : '.glibc';
  return join(root, 'prebuilds', `${platform}-${arch}`, `isolated-vm.abi${nodeAbi}${libc}.node`);
}

/** Returns the path of the Node 24 that ships with Tatami. @throws Error if it is not installed */
export function findNode(): string {
  if (embedded) return embedded.nodePath();
  const name = `node-${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/node`);
  } catch {
    throw new Error(
      `Node 24 for plugins is missing: the package ${name} is not installed. Reinstall without --omit=optional.`,
    );
  }
}
