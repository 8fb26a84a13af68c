// Finds the start-up bundle of a clone and requests a missing one. It never fails: a start without bundle
// runs the sources.
import { createHash } from 'node:crypto';
import {
  readdirSync,
  readFileSync,
  statSync,
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { cleanBunFlags } from '../../platform/lib/process/own-program.ts';

/** Contents of `packages.json` in a bundle. */
export interface BundledPackages {
  readonly files: readonly string[];
  readonly stamp: string;
}

/** Name of the compiled program in the folder of a bundle. */
export const programFile = 'program';
export const cacheFolder = (root: string): string => join(root, 'node_modules/.cache/tatami');
/** File with the reason why the inputs cannot be bundled, which stops further attempts. */
export const failurePath = (root: string, key: string): string => join(cacheFolder(root), `${key}.failed`);
/** Symbolic link whose target names the building process: one atomic call creates it with its content. */
export const lockPath = (root: string): string => join(cacheFolder(root), 'building');

/** Available memory in bytes that a build needs: it takes 480 MB. */
const memoryMin = 1_000_000_000;

/** Replaces this process by the bundle of the current inputs. Returns where there is none. */
export function enterBundle(root: string): void {
  try {
    const inputs = createKey();
    visitSources(root, inputs.add);
    key = inputs.end();
    const folder = join(cacheFolder(root), key);
    if (isCurrent(folder)) enter(root, folder);
  } catch {
    // The command runs from source.
  }
}

/** Returns true if a complete bundle exists and the packages in it are still those that are installed. */
export function isCurrent(folder: string): boolean {
  const list = join(folder, 'packages.json');
  if (!existsSync(list)) return false;
  const { files, stamp } = JSON.parse(readFileSync(list, 'utf8')) as BundledPackages;
  return stampOf(files) === stamp;
}

/** A bundle that cannot be executed is removed, and not built again. */
function enter(root: string, folder: string): void {
  const program = join(folder, programFile);
  try {
    process.execve!(program, [program, ...process.argv.slice(2)]);
  } catch (error) {
    writeFileSync(failurePath(root, key), String(error));
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Starts a background process that builds the bundle. Only the owner of node_modules builds, because files of
 * another user, such as root, would prevent the owner from removing the folder.
 */
export function requestBundle(root: string): void {
  try {
    const packages = lstatSync(join(root, 'node_modules'));
    if (key === '' || !packages.isDirectory() || packages.uid !== process.getuid?.()) return;
    mkdirSync(cacheFolder(root), { recursive: true });
    accessSync(cacheFolder(root), constants.W_OK);
    if (hasFailed(root, packages.mtimeMs) || isLocked(root) || process.availableMemory() < memoryMin) return;
    // The environment is empty, because variables such as BUN_OPTIONS would change the build.
    Bun.spawn([process.execPath, ...cleanBunFlags, `--cwd=${root}`, join(root, 'core/app/start/build.ts')], {
      cwd: root,
      env: {},
      stdio: ['ignore', 'ignore', 'ignore'],
      detached: true,
    }).unref();
  } catch {
    // The folder cannot be written.
  }
}

/** Returns true if the build of these inputs failed since packages were last added. */
function hasFailed(root: string, installedAt: number): boolean {
  const path = failurePath(root, key);
  return existsSync(path) && statSync(path).mtimeMs > installedAt;
}

/** Returns true while the process that holds the lock is alive. */
export function isLocked(root: string): boolean {
  try {
    const holder = readlinkSync(lockPath(root));
    return holder === identityOf(Number.parseInt(holder, 10));
  } catch {
    return false;
  }
}

/**
 * Names a process by its id and start time, because another process may reuse the id.
 * @throws Error if it does not run: a killed one remains as a zombie where process 1 does not reap
 */
export function identityOf(pid: number): string {
  const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may contain spaces. State and start time are the fields 3 and 22.
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z') throw new Error(`Process ${pid} has ended.`);
  return `${pid}-${fields[19]}`;
}

/** Some pages of `docs` are served, and the server checks rules with code of the plugin that runs them. */
const folders = ['core', 'docs', 'plugins', 'sdk'];
const isBundled = (name: string): boolean =>
  /\.(ts|js|json|md|sql)$/.test(name) && !name.endsWith('.test.ts');
/** The manifest is imported, the lock file selects the packages, and tsconfig.json maps module names. */
const files = ['bun.lock', 'package.json', 'tsconfig.json'];

/** Visits every file that may enter the bundle, in a fixed order. */
export function visitSources(root: string, visit: (path: string, content: Buffer) => void): void {
  const walk = (folder: string): void => {
    const entries = readdirSync(folder, { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (isBundled(entry.name)) visit(path, readFileSync(path));
    }
  };
  for (const folder of folders) walk(join(root, folder));
  for (const file of files) visit(join(root, file), readFileSync(join(root, file)));
}

/**
 * Returns a key of the sources, the place of the clone and the running Bun; `add` may be called from `visitSources`.
 * Sources are compared by content, because a file of the same size with its old times restored must not run old code.
 * docs/decisions/0086.
 */
export function createKey(): { add(path: string, content: Buffer): void; end(): string } {
  // The paths are absolute, because the bundle contains some.
  const hash = createHash('sha256').update(`${Bun.version} ${Bun.revision} ${process.arch}\n`);
  return {
    add: (path, content) => void hash.update(`${path}\0${content.length}\0`).update(content),
    end: () => hash.digest('hex').slice(0, 32),
  };
}

/**
 * Returns a stamp of package files, which changes when they are edited or another version is installed with the
 * same lock file. The change time is excluded: it is shared with other clones, because Bun installs hard links.
 */
export function stampOf(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) {
    const { size, mtimeMs, ino } = statSync(path);
    hash.update(`${path}\0${size}\0${mtimeMs}\0${ino}\n`);
  }
  return hash.digest('hex');
}

/** Key of the last `enterBundle`. */
let key = '';
