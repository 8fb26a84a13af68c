// Destination of a continuous copy, a folder or an S3-compatible store, with four operations on named objects.
import { openFolder } from './folder.ts';
import { openS3, type S3Settings } from './s3.ts';

export interface Destination {
  /** Name for messages, without credentials. */
  readonly title: string;
  /** Path of the folder, on which a disk may have to be mounted; null for an S3-compatible store. */
  readonly folder: string | null;
  /** Writes an object atomically. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** @throws Error if the object does not exist */
  get(name: string): Promise<Uint8Array>;
  /** Returns the names with the prefix, ascending. */
  list(prefix?: string): Promise<string[]>;
  /** Deletes objects; ignores missing ones. */
  delete(names: readonly string[]): Promise<void>;
}

/** @param where absolute path, or `s3://bucket/prefix` */
export function openDestination(where: string, s3: S3Settings): Destination {
  return where.startsWith('s3://') ? openS3(where, s3) : openFolder(where);
}
