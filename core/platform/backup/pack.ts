// Writes backups, which are plain tar files (POSIX ustar) of compressed parts. docs/decisions/0024.
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

export interface PackedFile {
  /** Name of the part. */
  readonly name: string;
  readonly path: string;
}

interface PackedBackup {
  readonly manifest: Manifest;
  readonly sums: Sums;
}

type Chunks = AsyncIterable<Buffer> | Iterable<Buffer>;

/** Level 3 is the default of the zstd command: about 200 MB/s, and a fifth of the database size or less. The checksum lets it verify a part. */
const level = {
  params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
};
export const chunkBytes = 1024 * 1024;

/**
 * Writes a backup file from its beginning to its end. Each part is compressed into a file beside it first,
 * because tar states the size of a part before its content.
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

export interface TarHeader {
  readonly name: string;
  /** Size of the content. */
  readonly bytes: number;
  /** Modification time, seconds since the epoch. */
  readonly timeS: number;
}

export const blockBytes = 512;
/** Two blocks of zeros end the file. */
export const endBytes = 2 * blockBytes;

const nameBytesMax = 100;
/** Larger sizes do not fit into 11 octal digits; GNU tar, bsdtar and BusyBox read them in binary. */
const octalMax = 8 ** 11 - 1;
const sumField = { at: 148, bytes: 8 };

/** Returns the number of zeros that fill the last block of a content. */
export const paddingOf = (bytes: number): number => -bytes & (blockBytes - 1);

export function encodeHeader({ name, bytes, timeS }: TarHeader): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, at: number, digits: number): void =>
    void block.write(value.toString(8).padStart(digits, '0'), at, 'latin1');
  if (block.write(name, 0, nameBytesMax, 'latin1') !== name.length)
    throw new Error(`The name ${name} is too long for a part of a backup.`);
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  if (bytes <= octalMax) octal(bytes, 124, 11);
  else {
    block[124] = 0x80;
    block.writeBigUInt64BE(BigInt(bytes), 128);
  }
  octal(timeS, 136, 11);
  block.fill(' ', sumField.at, sumField.at + sumField.bytes);
  block.write('0', 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    sumField.at,
    6,
  );
  block[sumField.at + 6] = 0;
  return block;
}

/**
 * Returns null unless the block is a header that `encodeHeader` returns. All metadata except name, size and
 * time is fixed, so links, folders, devices and extensions of other programs are rejected.
 */
export function decodeHeader(block: Buffer): TarHeader | null {
  if (block.length !== blockBytes) return null;
  const octal = (at: number): number => Number.parseInt(block.toString('latin1', at, at + 11), 8);
  const header = {
    name: block.toString('latin1', 0, nameBytesMax).replace(/\0.*$/s, ''),
    bytes: block[124] === 0x80 ? Number(block.readBigUInt64BE(128)) : octal(124),
    timeS: octal(136),
  };
  const isSafe = Number.isSafeInteger(header.bytes) && Number.isSafeInteger(header.timeS);
  return isSafe && encodeHeader(header).equals(block) ? header : null;
}
