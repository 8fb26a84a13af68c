// A data directory of an earlier build in one compressed file, with the responses of its API, which later builds must
// reproduce.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ownCopy } from '../faults/own-copy.ts';

/** Part of responses. */
export const baseUrl = 'http://tatami.example';

export interface PackedDirectory {
  /** Version of the build that created the directory. */
  readonly version: string;
  readonly schema: number;
  /** API key of its workspace. */
  readonly key: string;
  /** API responses, by path. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Contents in base64, by path. */
  readonly files: Readonly<Record<string, string>>;
}

/** @param skip names of files that are created again when the directory is opened */
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

/** Unpacks a private data directory, as its killed server left it. */
export function unpack({ files }: PackedDirectory, dir: string): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, name), Buffer.from(content, 'base64'), { mode: 0o600 });
  }
  ownCopy(dir);
}
