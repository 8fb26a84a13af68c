// Gives access to the files embedded in the executable. Files that must exist on disk to run are unpacked to the cache directory;
// the others are read in place.
import { readFileSync } from 'node:fs';
import sizesFile from 'artifact:sizes.part';
import isolatedVmFile from 'artifact:isolated-vm.part';
import libsqlFile from 'artifact:libsql.part';
import dashboardFile from 'artifact:dashboard.part';
import nodeFile from 'artifact:node.part';
import guestFile from 'artifact:guest.part';
import pluginsFile from 'artifact:plugins.part';
import sdkFile from 'artifact:sdk.part';
import sidecarFile from 'artifact:sidecar.part';
import { readCacheDir } from '../config/config.ts';
import type { Embedded } from '../../platform/lib/process/embedded.ts';
import { openCache, type Packed, proveNodeRuns } from './cache.ts';

type Sizes = Readonly<Record<'node' | 'isolated-vm' | 'libsql', Pick<Packed, 'bytes' | 'sha256'>>>;

const readText = (path: string): string => readFileSync(path, 'utf8');
const readJson = <T>(path: string): T => JSON.parse(readText(path)) as T;

const once = <T>(make: () => T): (() => T) => {
  let cached: { value: T } | undefined;
  return () => (cached ??= { value: make() }).value;
};

const sizes = once(() => readJson<Sizes>(sizesFile));
const cache = once(() => openCache(readCacheDir()));

const parts = {
  node: (): Packed => ({ name: 'node', file: nodeFile, isProgram: true, ...sizes().node }),
  isolatedVm: (): Packed => ({
    name: 'isolated-vm',
    file: isolatedVmFile,
    isProgram: false,
    ...sizes()['isolated-vm'],
  }),
  libsql: (): Packed => ({ name: 'libsql', file: libsqlFile, isProgram: false, ...sizes().libsql }),
};

const isolatedVmPath = once(() => cache().unpack(parts.isolatedVm()));

const prove = (node: string): void => proveNodeRuns(node, isolatedVmPath());
const nodePath = once(() => cache().unpack(parts.node(), prove));

/** Path of libsql's addon. Each thread loads it itself. */
export const libsqlPath = once(() => cache().unpack(parts.libsql()));

export const embedded: Embedded = {
  nodePath,
  isolatedVmPath,
  sidecarPrograms: () => ({ sidecar: readText(sidecarFile), guest: readText(guestFile) }),
  plugins: () => readJson(pluginsFile),
  dashboard: () => new Uint8Array(readFileSync(dashboardFile)),
  sdkFiles: () => readJson(sdkFile),
  prepare() {
    isolatedVmPath();
    nodePath();
  },
  verify: () => [
    cache().verify(parts.node(), prove),
    cache().verify(parts.isolatedVm()),
    cache().verify(parts.libsql()),
  ],
};
