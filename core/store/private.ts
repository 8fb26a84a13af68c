// What Tatami keeps is for the user it runs as: directories 0700 and files 0600, whatever the umask. What others may read or change
// is refused rather than narrowed, because they may have done so already.
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const others = 0o077;

/** Makes it, or takes over an empty one of the same user: nothing in it can have been read. Leaves any other as it is. */
export function makePrivateDir(path: string): void {
  const isNew = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined;
  const isOurs = isNew || statSync(path).uid === process.geteuid?.();
  if (isOurs && readdirSync(path).length === 0) chmodSync(path, 0o700);
}

/** An empty file takes whoever opens it as a new one, SQLite included, which gives its log and index the same mode. */
export function makePrivateFile(path: string, content: string | Uint8Array = ''): void {
  writeFileSync(path, content, { mode: 0o600 });
  chmodSync(path, 0o600);
}

/**
 * Looks at the directory, what is in it, and what is in the directories named.
 * @throws Error naming what is open to others, and the way out
 */
export function checkPrivate(dir: string, inner: readonly string[]): void {
  const folders = [dir, ...inner].filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
  const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  for (const path of [dir, ...files]) {
    const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
    if ((mode & others) !== 0)
      throw new Error(
        `${path} is open to other users (mode ${mode.toString(8)}), and the data directory must not be. ` +
          `Make it private with \`chmod -R go-rwx ${dir}\`, or choose with --data-dir a new directory below it, which is made private.`,
      );
  }
}
