// Reads the imports of a source file, with resolved paths.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const root = join(import.meta.dir, '..');

export interface Import {
  /** A path from the root of the repository, or the name of a package. */
  readonly path: string;
  /** True for an import of types only, which does not exist at runtime. */
  readonly typesOnly: boolean;
}
export interface Source {
  readonly file: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const statement =
  /^(?:import|export)\s+(?<types>type\s+(?!from\b))?[^;'"]*?\bfrom\s*'(?<from>[^']+)'|^import\s*'(?<bare>[^']+)'|(?<typeof>\btypeof\s+)?\bimport\(\s*'(?<called>[^']+)'/gm;

export function importsOf(file: string, text: string): Import[] {
  return [...text.matchAll(statement)].map(({ groups = {} }) => {
    const name = groups.from ?? groups.bare ?? groups.called ?? '';
    return {
      path: name.startsWith('.') ? relative(root, join(root, dirname(file), name)) : name,
      typesOnly: groups.types !== undefined || groups.typeof !== undefined,
    };
  });
}

/** Returns all TypeScript files below these folders. */
export function sources(...folders: readonly string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const file = relative(root, path);
        const text = readFileSync(path, 'utf8');
        return { file, text, imports: importsOf(file, text) };
      }),
  );
}
