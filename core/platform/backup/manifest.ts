// Encodes and checks the manifest, which is the first line of a backup: JSON with its own checksum, so that
// any changed byte in it is detected. The listed parts follow it in order.
import { createHash } from 'node:crypto';
import type { DatabaseFacts } from '../store/files/copied-database.ts';

export interface Checksum {
  readonly bytes: number;
  readonly sha256: string;
}

/** Part with its size and checksum in the backup. */
export interface BackupPart extends Checksum {
  readonly name: string;
}

export interface BackupFacts extends DatabaseFacts {
  /** Version of Tatami that made the backup. */
  readonly version: string;
  /** Start of the copy, ISO 8601, UTC; writes acknowledged before this time are included. */
  readonly createdAt: string;
}

export interface Manifest extends BackupFacts {
  /** Size and checksum of the uncompressed database file. */
  readonly database: Checksum;
  readonly parts: readonly BackupPart[];
}

/** Format of the file; incremented when older versions can no longer restore it. */
const format = 1;
export const databasePart = 'tatami.db.zst';
export const keyPart = 'master.key';
/** Allowed names of parts: the database, the key, and files below `archive/` and `blobs/` that cannot escape the folder. */
const partName = /^(tatami\.db\.zst|master\.key|(archive|blobs)(\/\w[\w.-]*){1,4})$/;

const headerBytesMax = 256 * 1024 * 1024;

/** The file is not a backup, or it is damaged. */
export class DamagedBackup extends Error {}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** @param length total length in bytes, padded with spaces; minimal if omitted */
export function encodeManifest(manifest: Manifest, length = 0): Buffer {
  const text = JSON.stringify(manifest);
  const line = `{"tatamiBackup":${format},"sha256":"${sha256(text)}","manifest":${text}}`;
  const bytes = Buffer.byteLength(line) + 1;
  return Buffer.from(`${line}${' '.repeat(Math.max(0, length - bytes))}\n`);
}

/** @param readMore returns the next bytes of the file; empty at its end @throws DamagedBackup */
export async function decodeManifest(
  readMore: () => Promise<Buffer>,
): Promise<{ manifest: Manifest; headerBytes: number }> {
  let header = Buffer.alloc(0);
  let end = -1;
  while (end < 0) {
    const more = await readMore();
    if (more.length === 0 || header.length > headerBytesMax || !isBegin(header, more))
      throw new DamagedBackup(
        'The file is not a backup of Tatami, or its beginning is damaged. Use another backup.',
      );
    const lineEnd = more.indexOf('\n');
    if (lineEnd >= 0) end = header.length + lineEnd + 1;
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
    throw new DamagedBackup('The manifest of the backup is damaged. Use another backup.', { cause });
  }
  if (typeof line.tatamiBackup === 'number' && line.tatamiBackup > format)
    throw new DamagedBackup(
      `The backup has format ${line.tatamiBackup}; this version of Tatami supports up to ${format}. Use a newer version.`,
    );
  // Encoding the parsed manifest again must reproduce every byte; otherwise it was modified.
  if (!line.manifest || !encodeManifest(line.manifest, header.length).equals(header))
    throw new DamagedBackup('The manifest of the backup is damaged. Use another backup.');
  if (line.manifest.parts.some(({ name }) => !partName.test(name)))
    throw new DamagedBackup(
      'The backup contains a part that this version of Tatami does not support. Use a newer version.',
    );
  return line.manifest;
}

/** Returns the expected size of the file. */
export const backupBytes = (manifest: Manifest, headerBytes: number): number =>
  manifest.parts.reduce((sum, { bytes }) => sum + bytes, headerBytes);

/**
 * Returns a manifest of the maximum possible length, to reserve space while checksums and sizes are unknown.
 */
export function widest(manifest: Manifest): Manifest {
  const wide = { bytes: Number.MAX_SAFE_INTEGER, sha256: '0'.repeat(64) };
  return {
    ...manifest,
    database: wide,
    parts: manifest.parts.map(({ name }) => ({ name, ...wide })),
  };
}
