// A data directory as an earlier build left it, in one compressed file: what later builds must open, with what its API answered.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Answers hold it. */
export const baseUrl = 'http://tatami.example';

export interface PackedDirectory {
  /** The build that made it. */
  readonly version: string;
  readonly schema: number;
  /** Of the workspace in it. */
  readonly key: string;
  /** What it answered, by path. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Contents in base64, by path. */
  readonly files: Readonly<Record<string, string>>;
}

/** @param skip names of files that are made anew by whoever opens the directory */
export function filesOf(dir: string, skip: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !skip.includes(entry.name))
      .map(({ parentPath, name }) => [join(parentPath, name).slice(dir.length + 1), join(parentPath, name)])
      .sort()
      .map(([name, path]) => [name!, readFileSync(path!).toString('base64')]),
  );
}

export function readPacked(path: string): PackedDirectory {
  return JSON.parse(Bun.zstdDecompressSync(readFileSync(path)).toString()) as PackedDirectory;
}

export function writePacked(path: string, packed: PackedDirectory): void {
  writeFileSync(path, Bun.zstdCompressSync(Buffer.from(JSON.stringify(packed)), { level: 19 }));
}

/** Makes a data directory of it, for the user alone. */
export function unpack({ files }: PackedDirectory, dir: string): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, name), Buffer.from(content, 'base64'), { mode: 0o600 });
  }
}
