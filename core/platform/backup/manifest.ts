// Parts of a backup: `manifest.json` first, and `SHA256SUMS` last, which `sha256sum -c` reads and which ends with the checksum of the
// manifest.
import { createHash } from 'node:crypto';
import { blobPath, digestIn } from '../store/files/blobs.ts';
import type { DatabaseFacts } from '../store/files/copied-database.ts';

export interface Checksum {
  readonly bytes: number;
  readonly sha256: string;
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
  /** Total size of the uncompressed parts. */
  readonly unpackedBytes: number;
  readonly withKey: boolean;
}

/** SHA-256 of each part as stored in the backup, by name. */
export type Sums = ReadonlyMap<string, string>;

/** Format of the file; incremented when older versions can no longer restore it. */
const format = 1;
export const manifestPart = 'manifest.json';
export const databasePart = 'tatami.db.zst';
export const keyPart = 'master.key';
export const sumsPart = 'SHA256SUMS';
export const manifestBytesMax = 16 * 1024 * 1024;
export const keyBytesMax = 4096;

/** The file is not a backup, or it is damaged. */
export class DamagedBackup extends Error {}

export const blobPart = (sha256: string): string => `blobs/${sha256}.zst`;

/**
 * Returns the path below the data directory to which a part is unpacked, which cannot leave it; null for the key, which is not written.
 * @throws DamagedBackup for a name that no part has
 */
export function targetOf(name: string): { readonly path: string | null; readonly isCompressed: boolean } {
  if (name === databasePart) return { path: 'tatami.db', isCompressed: true };
  if (name === keyPart) return { path: null, isCompressed: false };
  if (/^archive\/[\w-]+\/\d+-\d+\.jsonl\.zst$/.test(name)) return { path: name, isCompressed: false };
  const sha256 = digestIn(/^blobs\/(.*)\.zst$/.exec(name)?.[1] ?? '');
  if (sha256 === null)
    throw new DamagedBackup(
      'The backup contains a part that this version of Tatami does not support. Use a newer version.',
    );
  return { path: blobPath('blobs', sha256), isCompressed: true };
}

export const encodeManifest = (manifest: Manifest): Buffer =>
  Buffer.from(`${JSON.stringify({ format, ...manifest }, null, 2)}\n`);

/** @throws DamagedBackup */
export function decodeManifest(bytes: Buffer): Manifest {
  let json: (Manifest & { readonly format: unknown }) | null;
  try {
    json = JSON.parse(bytes.toString('utf8')) as typeof json;
  } catch {
    json = null;
  }
  if (typeof json?.format === 'number' && json.format > format)
    throw new DamagedBackup(
      `The backup has format ${json.format}; this version of Tatami supports up to ${format}. Use a newer version.`,
    );
  if (!json || json.format !== format || !hasForm(json))
    throw new DamagedBackup('The manifest of the backup is damaged. Use another backup.');
  const { format: _, ...manifest } = json;
  return manifest;
}

/** Checks the fields that are read before the database is. */
const hasForm = (json: Partial<Manifest>): boolean =>
  [json.unpackedBytes, json.database?.bytes, json.log?.position].every(Number.isSafeInteger) &&
  typeof json.database?.sha256 === 'string' &&
  Array.isArray(json.workspaces) &&
  !Number.isNaN(Date.parse(json.createdAt ?? ''));

/** Returns the modification time of all parts, seconds since the epoch. */
export const timeOf = ({ createdAt }: BackupFacts): number => Math.floor(Date.parse(createdAt) / 1000);

export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Returns the line of `SHA256SUMS` for a part. */
export const sumLine = (name: string, sha256: string): string => `${sha256}  ${name}\n`;

/** Returns the content of `SHA256SUMS`; a listing finds the checksum of the manifest at its end. */
export const encodeSums = (sums: Sums): string =>
  [...sums]
    .sort(([a], [b]) => Number(a === manifestPart) - Number(b === manifestPart))
    .map(([name, sha256]) => sumLine(name, sha256))
    .join('');
