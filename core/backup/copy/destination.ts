// Where a continuous copy lies: a folder or an S3-compatible store, as four operations on named objects.
import { openFolder } from './folder.ts';
import { openS3, type S3Settings } from './s3.ts';

export interface Destination {
  /** For messages; without credentials. */
  readonly title: string;
  /** Where a disk may have to be mounted; null where it is a store. */
  readonly folder: string | null;
  /** Whole under its name once resolved, or not there. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** @throws Error where there is none */
  get(name: string): Promise<Uint8Array>;
  /** The names that begin so, in order. */
  list(prefix?: string): Promise<string[]>;
  /** Those that are not there are passed by. */
  delete(names: readonly string[]): Promise<void>;
}

/** @param where an absolute path, or `s3://bucket/prefix` */
export function openDestination(where: string, s3: S3Settings): Destination {
  return where.startsWith('s3://') ? openS3(where, s3) : openFolder(where);
}
