// The first line of a backup says what is in it: JSON with a checksum of its own, followed by the parts it names, one after the other.
// It is read on its own to list backups, and a single changed byte of it is noticed.
import { createHash } from 'node:crypto';
import type { DatabaseFacts } from '../store/copied-database.ts';

export interface Part {
  readonly name: string;
  /** As it lies in the backup. */
  readonly bytes: number;
  readonly sha256: string;
}

export interface Manifest extends DatabaseFacts {
  /** Of Tatami. */
  readonly version: string;
  /** ISO 8601, UTC: when the copy began, so that what was acknowledged before is in it. */
  readonly createdAt: string;
  /** The database file as it is restored. */
  readonly database: { readonly bytes: number; readonly sha256: string };
  readonly parts: readonly Part[];
}

/** Changes when an older program could not restore the file. */
const format = 1;
export const databasePart = 'tatami.db.zst';
export const keyPart = 'master.key';
/** What lies beside the database and belongs to it: `archive/`, `blobs/` and names without a way out. */
const partName = /^(tatami\.db\.zst|master\.key|(archive|blobs)(\/\w[\w.-]*){1,4})$/;

const headerBytesMax = 256 * 1024 * 1024;

/** A file that is no backup, or a damaged one. */
export class DamagedBackup extends Error {}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** @param length in bytes, padded with spaces; without it as short as can be */
export function encodeManifest(manifest: Manifest, length = 0): Buffer {
  const text = JSON.stringify(manifest);
  const line = `{"tatamiBackup":${format},"sha256":"${sha256(text)}","manifest":${text}}`;
  const bytes = Buffer.byteLength(line) + 1;
  return Buffer.from(`${line}${' '.repeat(Math.max(0, length - bytes))}\n`);
}

/**
 * @param readMore the next bytes of the file; empty at its end
 * @throws DamagedBackup
 */
export async function decodeManifest(
  readMore: () => Promise<Buffer>,
): Promise<{ manifest: Manifest; headerBytes: number }> {
  let header = Buffer.alloc(0);
  let end = -1;
  while (end < 0) {
    const more = await readMore();
    if (more.length === 0 || header.length > headerBytesMax || !isBegin(header, more))
      throw new DamagedBackup('This is no backup of Tatami, or its beginning is damaged.');
    const found = more.indexOf('\n');
    if (found >= 0) end = header.length + found + 1;
    header = Buffer.concat([header, more]);
  }
  return { manifest: checked(header.subarray(0, end)), headerBytes: end };
}

const begin = '{"tatamiBackup":';
const isBegin = (header: Buffer, more: Buffer): boolean =>
  header.length > 0 || more.subarray(0, begin.length).toString('latin1') === begin;

function checked(header: Buffer): Manifest {
  let line: { tatamiBackup: unknown; manifest: Manifest };
  try {
    line = JSON.parse(header.toString('utf8')) as typeof line;
  } catch (cause) {
    throw new DamagedBackup('The first line of the backup is damaged.', { cause });
  }
  if (typeof line.tatamiBackup === 'number' && line.tatamiBackup > format)
    throw new DamagedBackup(
      `The backup has format ${line.tatamiBackup}; this version of Tatami knows ${format}. Use a newer one.`,
    );
  // What is written again from what was read is the same to the byte, or something was changed.
  if (!line.manifest || !encodeManifest(line.manifest, header.length).equals(header))
    throw new DamagedBackup('The first line of the backup is damaged.');
  if (line.manifest.parts.some(({ name }) => !partName.test(name)))
    throw new DamagedBackup('The backup names a part that this version of Tatami does not know.');
  return line.manifest;
}

/** Of the whole file. */
export const backupBytes = (manifest: Manifest, headerBytes: number): number =>
  manifest.parts.reduce((sum, { bytes }) => sum + bytes, headerBytes);

/** A manifest as long as it can get, where only sums and sizes are unknown yet. */
export function widest(manifest: Manifest): Manifest {
  const wide = { bytes: Number.MAX_SAFE_INTEGER, sha256: '0'.repeat(64) };
  return {
    ...manifest,
    database: wide,
    parts: manifest.parts.map(({ name }) => ({ name, ...wide })),
  };
}
