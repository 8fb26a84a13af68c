// What Tatami keeps is for the user it runs as: directories 0700 and files 0600, whatever the umask. What others may read or change
// is refused rather than narrowed, because they may have done so already.
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
} from 'node:fs';
import { join } from 'node:path';

const others = 0o077;
const othersWrite = 0o022;

/** Makes it, or takes over an empty one of the same user: nothing in it can have been read. Leaves any other as it is. */
export function makePrivateDir(path: string): void {
  const isNew = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
  const isOurs = isNew || statSync(path).uid === process.geteuid?.();
  if (isOurs && readdirSync(path).length === 0) chmodSync(path, 0o700);
}

/**
 * Makes a directory in which nobody else can have put anything, or takes over one of the same user that nobody else may write to.
 * @throws Error where the path is a symbolic link, another user's, or others may write to it
 */
export function makeOwnDir(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found) throw error;
    if (!found.isDirectory() || found.uid !== process.geteuid?.() || (found.mode & othersWrite) !== 0)
      throw new Error(
        `${path} exists: it is a symbolic link, belongs to another user, or others may write to it. Remove it, or choose another path.`,
        { cause: error },
      );
    chmodSync(path, 0o700);
  }
}

/**
 * Opens a new file for writing, which replaces one of that name. An existing file may be another user's, or a symbolic link to a file
 * of this user, so it is removed and never written to.
 * @returns its descriptor
 */
export function openNewPrivateFile(path: string): number {
  rmSync(path, { force: true });
  const fd = openSync(path, 'wx', 0o600);
  fchmodSync(fd, 0o600);
  return fd;
}

/** An empty file takes whoever opens it as a new one, SQLite included, which gives its log and index the same mode. */
export function makePrivateFile(path: string, content: string | Uint8Array = ''): void {
  const fd = openNewPrivateFile(path);
  try {
    writeFileSync(fd, content);
  } finally {
    closeSync(fd);
  }
}

/**
 * Files that another user makes in a directory would keep its owner out at the next start, those of root among them.
 * @throws Error
 */
export function requireOwner(dir: string): void {
  const owner = statSync(dir, { throwIfNoEntry: false })?.uid;
  const user = process.geteuid?.();
  if (owner === undefined || owner === user) return;
  const wayOut = user === 0 ? '' : ', or have root give the directory to this user (chown)';
  throw new Error(
    `${dir} belongs to another user. Type this as that user: sudo -u '#${owner}' tatami …${wayOut}`,
  );
}

/** Root reads files of everybody. */
function requireSameOwner(dir: string, path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const user = process.geteuid?.();
  if (!found || found.isSymbolicLink() || user === 0 || found.uid === user) return;
  throw new Error(
    `${path} belongs to another user than ${dir}. Have root give it back: tatami doctor fix permissions --data-dir ${dir}`,
  );
}

export interface Open {
  readonly path: string;
  readonly message: string;
  readonly isLink: boolean;
}

/** Lists paths in the directory and in the folders named that others may read or change. A link is not followed, but for the mode of its target. */
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
 * Looks at the directory, what is in it, and what is in the directories named.
 * @throws Error naming what is open to others or is another user's, and the way out
 */
export function checkPrivate(dir: string, inner: readonly string[]): void {
  const [first] = openIn(dir, inner);
  if (first) throw new Error(`${first.message}, and the data directory must not be. ${wayOutOf(dir, first)}`);
  for (const path of [dir, ...readdirSync(dir).map((name) => join(dir, name))]) requireSameOwner(dir, path);
}

/** A directory without a database may be one of the system, in which no mode is to change. */
function wayOutOf(dir: string, { isLink }: Open): string {
  if (isLink)
    return 'Links are not followed: make the target private yourself, or put it in the place of the link.';
  if (existsSync(join(dir, 'tatami.db')))
    return `Make it private with \`chmod -R go-rwx ${dir}\`, or choose with --data-dir a new directory below it, which is made private.`;
  return `Choose a new directory, which is made private, such as --data-dir ${join(dir, 'tatami')}`;
}
