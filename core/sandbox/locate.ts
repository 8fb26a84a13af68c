// Where isolated-vm's prebuilt addon and our Node lie.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** NODE_MODULE_VERSION of Node 24: the addon is built for exactly this. */
const nodeAbi = 137;

/** @throws Error when this platform has no prebuilt addon */
export function findAddon(): string {
  const root = dirname(createRequire(import.meta.url).resolve('isolated-vm/package.json'));
  const libc =
    process.platform !== 'linux' ? '' : existsSync('/lib/ld-musl-x86_64.so.1') ? '.musl' : '.glibc';
  const path = join(
    root,
    'prebuilds',
    `${process.platform}-${process.arch}`,
    `isolated-vm.abi${nodeAbi}${libc}.node`,
  );
  if (!existsSync(path))
    throw new Error(
      `isolated-vm has no build for ${process.platform}-${process.arch}; plugins cannot run here.`,
    );
  return path;
}

/** The Node 24 that comes with the dependencies. @throws Error when it was not installed */
export function findNode(): string {
  const name = `node-${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/node`);
  } catch {
    throw new Error(
      `Node 24 for plugins is missing: the package ${name} is not installed. Run the installation again without --omit=optional.`,
    );
  }
}
