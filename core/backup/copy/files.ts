// The files of old events beside the database: they never change, and a database that was copied needs those it names. Each is sent before
// the segment that names it, under a name that says its content, because after a restore another file may be called the same.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { ArchivedFile } from '../../store/copied-database.ts';
import { makePrivateDir, makePrivateFile } from '../../store/private.ts';
import type { Destination } from './destination.ts';
import { CopyError } from './moment.ts';

const ending = '.jsonl.zst';
const localName = ({ workspaceId, first, last }: Omit<ArchivedFile, 'sha256'>): string =>
  `${workspaceId}/${first}-${last}${ending}`;
const copiedName = (local: string, sha256: string): string =>
  `archive/${local.slice(0, -ending.length)}-${sha256.slice(0, 16)}${ending}`;

export interface FilesSender {
  /** Resolves once every file that is there now is in the destination. */
  send(): Promise<void>;
}

/** @param folder of the files; it may be missing */
export function createFilesSender(
  destination: Destination,
  folder: string,
  installation: string,
): FilesSender {
  /** By their names here. As many as there are files. */
  const sent = new Set<string>();
  let there: Set<string> | null = null;
  return {
    async send() {
      if (!existsSync(folder)) return;
      const local = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
        .filter((name) => !sent.has(name));
      if (local.length === 0) return;
      there ??= new Set(await destination.list(`${installation}/archive/`));
      for (const name of local) {
        const bytes = await readFile(join(folder, name));
        const target = `${installation}/${copiedName(name, hashOf(bytes))}`;
        if (!there.has(target)) await destination.put(target, bytes);
        sent.add(name);
      }
    },
  };
}

/** Puts the files that a database names into a data directory. @throws CopyError where one is missing or damaged */
export async function bringFiles(
  source: Destination,
  files: readonly ArchivedFile[],
  dataDir: string,
): Promise<void> {
  if (files.length === 0) return;
  // The source may be the root of a destination, or the folder of one installation.
  const names = new Map((await source.list()).map((name) => [name.slice(name.indexOf('archive/')), name]));
  makePrivateDir(join(dataDir, 'archive'));
  for (const file of files) {
    const local = localName(file);
    const name = names.get(copiedName(local, file.sha256));
    const bytes = name === undefined ? null : await source.get(name);
    if (!bytes || hashOf(bytes) !== file.sha256)
      throw new CopyError(
        `${source.title} lacks the file of old events ${local}, or it is damaged: the database that would be restored names it.`,
      );
    const path = join(dataDir, 'archive', local);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    makePrivateFile(path, bytes);
  }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
