// Identity of everything that enters the start-up bundle. Sources are compared by content, because a file of the
// same size with its old times restored must not run old code. docs/decisions/0086.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Some pages of `docs` are served. */
const folders = ['core', 'docs', 'sdk'];
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

/** Returns a key of the sources, the place of the clone and the running Bun. `add` may be called from `visitSources`. */
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
