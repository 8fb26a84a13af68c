// File permissions: directories are 0700 and files 0600 under any umask. A path that other users may read or
// change is rejected instead of being made private, because they may have read or changed it already.
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';

const others = 0o077;
const othersWrite = 0o022;

/**
 * Makes a private directory, or takes over an empty one of the same user, from which nothing can have been read. Leaves any other directory
 * unchanged.
 */
export function makePrivateDir(path: string): void {
  const isNew = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
  const isOurs = isNew || statSync(path).uid === process.geteuid?.();
  if (isOurs && readdirSync(path).length === 0) chmodSync(path, 0o700);
}

/**
 * Makes a directory into which no other user can have put files, or takes over one of the same user that others cannot write to.
 * @throws Error if the path is a symbolic link, belongs to another user, or is writable by others
 */
export function makeOwnDir(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) throw error;
    if (!stats.isDirectory() || stats.uid !== process.geteuid?.() || (stats.mode & othersWrite) !== 0)
      throw new Error(
        `${path} exists: it is a symbolic link, belongs to another user, or others may write to it. Remove it, or choose another path.`,
        { cause: error },
      );
    chmodSync(path, 0o700);
  }
}

/**
 * Opens a new file for writing, replacing a file of that name. An existing file may belong to another user, or may be a symbolic link to a
 * file of this user, so it is removed and never written to.
 * @returns its descriptor
 */
export function openNewPrivateFile(path: string): number {
  rmSync(path, { force: true });
  const fd = openSync(path, 'wx', 0o600);
  fchmodSync(fd, 0o600);
  return fd;
}

/** Makes a private file. SQLite treats an empty file as a new database, and gives its log and index the same mode. */
export function makePrivateFile(path: string, content: string | Uint8Array = ''): void {
  const fd = openNewPrivateFile(path);
  try {
    writeFileSync(fd, content);
  } finally {
    closeSync(fd);
  }
}

/**
 * Refuses to run as another user than the owner of the directory, root included: files made by another user would lock out the owner at the
 * next start.
 * @throws Error if the directory belongs to another user
 */
export function requireOwner(dir: string): void {
  const owner = statSync(dir, { throwIfNoEntry: false })?.uid;
  const user = process.geteuid?.();
  if (owner === undefined || owner === user) return;
  const wayOut = user === 0 ? '' : ', or have root give the directory to this user (chown)';
  throw new Error(
    `${dir} belongs to another user. Run the command as that user: sudo -u '#${owner}' tatami …${wayOut}`,
  );
}

/** Allows root, who can read the files of all users. @throws Error if the path belongs to another user */
function requireSameOwner(dir: string, path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const user = process.geteuid?.();
  if (!stats || stats.isSymbolicLink() || user === 0 || stats.uid === user) return;
  throw new Error(
    `${path} does not belong to the owner of ${dir}. Run as root: tatami doctor fix permissions --data-dir ${dir}`,
  );
}

export interface Open {
  readonly path: string;
  readonly message: string;
  readonly isLink: boolean;
}

/**
 * Lists paths in the directory and in the given folders that others may read or change. Links are not followed, except for the mode of
 * their target.
 */
export function openIn(dir: string, inner: readonly string[]): Open[] {
  const folders = [
    dir,
    ...inner.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory()),
  ].filter((path) => existsSync(path));
  const paths = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  return [dir, ...paths].flatMap((path) => {
    const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
    if ((mode & others) === 0) return [];
    const isLink = path !== dir && lstatSync(path).isSymbolicLink();
    const what = isLink ? `${path} is a symbolic link, whose target` : path;
    return [{ path, isLink, message: `${what} is open to other users (mode ${mode.toString(8)})` }];
  });
}

/**
 * Checks the directory, its entries, and the entries of the given folders.
 * @throws Error that names the path that is accessible to others or belongs to another user, and the remedy
 */
export function checkPrivate(dir: string, inner: readonly string[]): void {
  const [first] = openIn(dir, inner);
  if (first) throw new Error(`${first.message}, and the data directory must not be. ${wayOutOf(dir, first)}`);
  for (const path of [dir, ...readdirSync(dir).map((name) => join(dir, name))]) requireSameOwner(dir, path);
}

/** A directory without a database may be a system directory, whose mode must not be changed. */
function wayOutOf(dir: string, { isLink }: Open): string {
  if (isLink) return 'Links are not followed: make the target private, or replace the link with it.';
  if (existsSync(join(dir, 'tatami.db')))
    return `Make it private with \`chmod -R go-rwx ${dir}\`, or choose a new directory below it with --data-dir, which Tatami makes private.`;
  return `Choose a new directory, which Tatami makes private, such as --data-dir ${join(dir, 'tatami')}`;
}

/**
 * Name of the file that `tatami release` creates in the data directory to signal a running server. Only the
 * operator can create files there.
 */
export const releaseFile = 'release';

interface PathFacts {
  readonly path: string;
  readonly stats: Stats;
}

/**
 * Lists the paths of a data directory, itself first; it may be a link. Links inside it are listed but not
 * followed, because their targets are not part of the directory; `readdirSync` with `recursive` would follow
 * them.
 */
export function pathsOf(dir: string): PathFacts[] {
  return [{ path: dir, stats: statSync(dir) }, ...pathsIn(dir)];
}

function pathsIn(folder: string): PathFacts[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    // A running server may remove files meanwhile.
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return [];
    return [{ path, stats }, ...(stats.isDirectory() ? pathsIn(path) : [])];
  });
}

/** Lists the files below a folder, excluding targets of symbolic links. */
export const filesIn = (folder: string): string[] =>
  pathsIn(folder)
    .filter(({ stats }) => stats.isFile())
    .map(({ path }) => path);

export const linksOf = (dir: string): string[] =>
  pathsOf(dir)
    .filter(({ stats }) => stats.isSymbolicLink())
    .map(({ path }) => path);
