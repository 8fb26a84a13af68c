// Process that builds the start-up bundle of this clone, at the lowest priority.
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { packageRoot as root, typedIn } from '../../platform/lib/process/own-program.ts';
import { compileProgram } from './bundler.ts';
import {
  cacheFolder,
  failurePath,
  identityOf,
  isCurrent,
  isLocked,
  lockPath,
  programFile,
  type BundledPackages,
  createKey,
  stampOf,
  visitSources,
} from './cache.ts';

const cache = cacheFolder(root);
const building = /^build-/;

if (lock()) {
  try {
    lowerPriority();
    await build();
  } finally {
    rmSync(lockPath(root), { force: true });
  }
}

/**
 * Returns false if another process builds. Only an abandoned lock is removed, so that of several processes that find none one
 * builds. Two processes that take over an abandoned lock at once both build.
 */
function lock(): boolean {
  if (createLock()) return true;
  if (isLocked(root)) return false;
  rmSync(lockPath(root), { force: true });
  return createLock();
}

/** @returns false if the lock exists */
function createLock(): boolean {
  try {
    symlinkSync(identityOf(process.pid), lockPath(root));
    return true;
  } catch {
    return false;
  }
}

function lowerPriority(): void {
  setPriority(constants.priority.PRIORITY_LOW);
  // Makes the kernel end this process first when memory is short: it takes 480 MB.
  writeFileSync('/proc/self/oom_score_adj', '1000');
}

async function build(): Promise<void> {
  remove((name) => building.test(name));
  const sources = new Map<string, string>();
  const inputs = createKey();
  visitSources(root, (path, content) => {
    inputs.add(path, content);
    sources.set(path, String(content));
  });
  const key = inputs.end();
  const [target, folder] = [join(cache, key), join(cache, `build-${process.pid}`)];
  if (isCurrent(target)) return;
  mkdirSync(folder);
  try {
    await fill(folder, sources);
    // Without these calls a power failure could leave a complete folder with empty files.
    for (const name of readdirSync(folder)) sync(join(folder, name));
    rmSync(target, { recursive: true, force: true });
    renameSync(folder, target);
    removeOld(key);
  } catch (error) {
    writeFileSync(failurePath(root, key), String(error));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws Error if a bundled file is not among the sources, or was changed while it was bundled */
async function fill(folder: string, sources: ReadonlyMap<string, string>): Promise<void> {
  const bundled = await compileProgram({
    entry: 'core/main.ts',
    folder,
    // The key belongs to these texts, even if a file has changed since.
    read(path) {
      const text = sources.get(path);
      if (text === undefined) throw new Error(`${path} is not part of the key.`);
      return text;
    },
  });
  const packages = bundled.filter(({ path }) => !sources.has(path));
  const files = packages.map(({ path }) => path);
  const content: BundledPackages = { files, stamp: stampOf(files) };
  for (const { path, text } of packages)
    if (!path.includes('/node_modules/') || (text !== null && readFileSync(path, 'utf8') !== text))
      throw new Error(`${path} differs from what was bundled.`);
  const trial = [join(folder, programFile), `${typedIn}${root}`, '--version'];
  const { signalCode } = Bun.spawnSync(trial, { cwd: root, env: {} });
  if (signalCode !== undefined) throw new Error(`The program ended with ${signalCode}.`);
  writeFileSync(join(folder, 'packages.json'), JSON.stringify(content));
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}

/** Retains the new bundle and the one before it, for a change that is undone. */
function removeOld(key: string): void {
  const [previous] = readdirSync(cache)
    .filter((name) => /^[0-9a-f]{32}$/.test(name) && name !== key)
    .toSorted((a, b) => statSync(join(cache, b)).mtimeMs - statSync(join(cache, a)).mtimeMs);
  remove((name) => /^[0-9a-f]{32}/.test(name) && name !== key && name !== previous);
}

function remove(isObsolete: (name: string) => boolean): void {
  for (const name of readdirSync(cache).filter(isObsolete))
    rmSync(join(cache, name), { recursive: true, force: true });
}
