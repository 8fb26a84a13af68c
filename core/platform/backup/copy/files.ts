// Sends and reads the event archive files of a copy. A copied database needs the files that it references, so
// each file is sent before the segment that references it. Its name contains its checksum, because after a
// restore another file may have the same local name.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { archivedName, type ArchivedFile } from '../../store/files/archive.ts';
import { filesIn, makePrivateDir, makePrivateFile } from '../../store/files/private.ts';
import type { Destination } from './destination/destination.ts';
import { CopyError } from './timeline.ts';

const ending = '.jsonl.zst';
const copiedName = (local: string, sha256: string): string =>
  `archive/${local.slice(0, -ending.length)}-${sha256.slice(0, 16)}${ending}`;

const copiedPattern = /(?:^|\/)archive\/[^/]+\/\d+-\d+-([0-9a-f]{16})\.jsonl\.zst$/;

export const filesAmong = (names: readonly string[]): string[] =>
  names.filter((name) => copiedPattern.test(name));

/** @param name name of an archive file in a copy @returns true if the content matches the checksum in the name */
export const matchesNameSum = (name: string, bytes: Uint8Array): boolean =>
  hashOf(bytes).slice(0, 16) === copiedPattern.exec(name)?.[1];

export interface FilesSender {
  /** Resolves once every readable file that exists now is in the destination. */
  send(): Promise<void>;
  /** Returns a sentence that names the files that the last `send` could not read; null if there are none. */
  fault(): string | null;
}

/** @param options.folder archive folder; may be missing */
export function createFilesSender(options: {
  destination: Destination;
  folder: string;
  installation: string;
  /** Called when a file becomes unreadable. */
  onUnreadable(name: string, error: unknown): void;
}): FilesSender {
  const { destination, folder, installation } = options;
  /** Local names of the files that are in the destination. */
  const sent = new Set<string>();
  let there: Set<string> | null = null;
  let unreadable: readonly string[] = [];

  /** An unreadable file must not block later ones. */
  const read = async (name: string): Promise<Uint8Array | null> => {
    try {
      return await readFile(join(folder, name));
    } catch (error) {
      if (!unreadable.includes(name)) options.onUnreadable(name, error);
      return null;
    }
  };
  const sendThose = async (local: readonly string[]): Promise<void> => {
    const failed: string[] = [];
    there ??= new Set(await destination.list(`${installation}/archive/`));
    for (const name of local) {
      const bytes = await read(name);
      if (!bytes) {
        failed.push(name);
        continue;
      }
      const target = `${installation}/${copiedName(name, hashOf(bytes))}`;
      if (!there.has(target)) await destination.put(target, bytes);
      sent.add(name);
    }
    unreadable = failed;
  };
  return {
    async send() {
      if (!existsSync(folder)) return;
      const local = filesIn(folder)
        .filter((path) => path.endsWith(ending))
        .map((path) => relative(folder, path))
        .filter((name) => !sent.has(name));
      if (local.length > 0) await sendThose(local);
      else unreadable = [];
    },
    fault: () =>
      unreadable.length === 0
        ? null
        : `Event archive files cannot be read and are not in the copy: ${unreadable.slice(0, 3).join(', ')}` +
          `${unreadable.length > 3 ? ` and ${unreadable.length - 3} more` : ''}. Restore them from a backup.`,
  };
}

/** Source of the archive files that a database references. */
export interface FilesSource {
  /** Name for messages. */
  readonly title: string;
  /** Returns null if the file does not exist. */
  read(file: ArchivedFile): Promise<Uint8Array | null>;
}

/** @param source root of a destination, or folder of one installation */
export function filesOfCopy(source: Destination): FilesSource {
  let names: Map<string, string> | null = null;
  return {
    title: source.title,
    async read(file) {
      names ??= new Map(
        (await source.list()).map((name) => [name.slice(name.indexOf('archive/')), name] as const),
      );
      const name = names.get(copiedName(archivedName(file), file.sha256));
      return name === undefined ? null : source.get(name);
    },
  };
}

/** @param folder `archive` folder of a data directory */
export const filesOfDirectory = (folder: string): FilesSource => ({
  title: folder,
  async read(file) {
    const path = join(folder, archivedName(file));
    return existsSync(path) ? readFile(path) : null;
  },
});

/** Writes the archive files that a database references into a data directory. @throws CopyError if one is missing or damaged */
export async function bringFiles(
  source: FilesSource,
  files: readonly ArchivedFile[],
  dataDir: string,
): Promise<void> {
  if (files.length === 0) return;
  makePrivateDir(join(dataDir, 'archive'));
  for (const file of files) {
    const local = archivedName(file);
    const bytes = await source.read(file);
    if (!bytes || hashOf(bytes) !== file.sha256)
      throw new CopyError(
        `The archive file ${local}, which the database references, is missing or damaged in ${source.title}. Restore it from an older backup.`,
      );
    const path = join(dataDir, 'archive', local);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    makePrivateFile(path, bytes);
  }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
