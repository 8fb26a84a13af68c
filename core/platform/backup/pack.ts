// Writes a backup file from its beginning to its end. Each part is compressed into a file beside it first, because tar states the size of a
// part before its content.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, readFileSync, statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, zstdCompressSync } from 'node:zlib';
import { makePrivateFile } from '../store/files/private.ts';
import {
  databasePart,
  encodeManifest,
  encodeSums,
  keyPart,
  manifestPart,
  sumsPart,
  targetOf,
  timeOf,
  type BackupFacts,
  type Checksum,
  type Manifest,
  type Sums,
} from './manifest.ts';
import { encodeHeader, endBytes, paddingOf } from './tar.ts';

/** Level 3 is the default of the zstd command: about 200 MB/s, and a fifth of the database size or less. The checksum lets it verify a part. */
const level = {
  params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
};
export const chunkBytes = 1024 * 1024;

type Chunks = AsyncIterable<Buffer> | Iterable<Buffer>;

export interface PackedFile {
  /** Name of the part. */
  readonly name: string;
  readonly path: string;
}

/** Passes a stream through and computes its length and SHA-256. */
export function createTap(onBytes: (bytes: number) => void = () => undefined) {
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    async *pass(source: Chunks): AsyncGenerator<Buffer> {
      for await (const chunk of source) {
        hash.update(chunk);
        bytes += chunk.length;
        onBytes(chunk.length);
        yield chunk;
      }
    },
    result: (): Checksum => ({ bytes, sha256: hash.digest('hex') }),
  };
}

export interface PackedBackup {
  readonly manifest: Manifest;
  readonly sums: Sums;
}

/**
 * @param path new file; not synced
 * @param onBytes called with the number of bytes of the database that are compressed
 */
export async function packBackup(
  path: string,
  facts: BackupFacts,
  files: { readonly database: string; readonly beside: readonly PackedFile[]; readonly key: Buffer | null },
  onBytes: (bytes: number) => void,
): Promise<PackedBackup> {
  const { beside, key } = files;
  const compressed = `${path}.part`;
  const database = await compress(files.database, compressed, onBytes);
  const unpackedBytes = beside.reduce((sum, file) => sum + sizeOf(file.path), database.bytes);
  const manifest: Manifest = {
    ...facts,
    database,
    unpackedBytes: unpackedBytes + (key?.length ?? 0),
    withKey: key !== null,
  };
  const sums = new Map<string, string>();
  const part = async function* (name: string, bytes: number, content: Chunks): AsyncGenerator<Buffer> {
    const tap = createTap();
    yield encodeHeader({ name, bytes, timeS: timeOf(manifest) });
    yield* tap.pass(content);
    const read = tap.result();
    if (read.bytes !== bytes) throw new Error(`${name} changed during the backup. Make the backup again.`);
    yield Buffer.alloc(paddingOf(bytes));
    sums.set(name, read.sha256);
  };
  const buffer = (name: string, content: Buffer) => part(name, content.length, [content]);
  const file = (name: string, from: string) => part(name, sizeOf(from), readFrom(from));
  await pipeline(async function* () {
    yield* buffer(manifestPart, encodeManifest(manifest));
    yield* file(databasePart, compressed);
    for (const { name, path: from } of beside)
      if (!targetOf(name).isCompressed) yield* file(name, from);
      // A stream would cost a millisecond more per file.
      else if (sizeOf(from) <= chunkBytes) yield* buffer(name, zstdCompressSync(readFileSync(from), level));
      else {
        await compress(from, compressed);
        yield* file(name, compressed);
      }
    if (key) yield* buffer(keyPart, key);
    yield* buffer(sumsPart, Buffer.from(encodeSums(sums)));
    yield Buffer.alloc(endBytes);
  }, writeTo(path));
  return { manifest, sums };
}

const sizeOf = (path: string): number => statSync(path).size;

const readFrom = (path: string): Chunks => createReadStream(path, { highWaterMark: chunkBytes });

/** Replaces an existing file. */
export function writeTo(path: string): Writable {
  makePrivateFile(path);
  return createWriteStream(path, { flags: 'r+' });
}

/** @returns the checksum of the source */
async function compress(
  from: string,
  to: string,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<Checksum> {
  let done = 0;
  const raw = createTap((bytes) => onBytes((done += bytes)));
  await pipeline(readFrom(from), raw.pass, createZstdCompress(level), writeTo(to));
  return raw.result();
}
