// Writes a backup file: the parts, and in front of them a manifest that is completed last, when the checksums are known.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import {
  databasePart,
  encodeManifest,
  keyPart,
  widest,
  type BackupFacts,
  type BackupPart,
  type Checksum,
  type Manifest,
} from './manifest.ts';

/** Level 3 is the default of the zstd command: about 200 MB/s, and a fifth of the database size or less. */
const level = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };
export const chunkBytes = 1024 * 1024;

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
    async *pass(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of source) {
        hash.update(chunk);
        bytes += chunk.length;
        onBytes(bytes);
        yield chunk;
      }
    },
    result: () => ({ bytes, sha256: hash.digest('hex') }),
  };
}

/**
 * @param path existing empty file; durable on return
 * @returns the manifest as written
 */
export async function packBackup(
  path: string,
  facts: BackupFacts,
  files: { readonly database: string; readonly beside: readonly PackedFile[]; readonly key: Buffer | null },
  onBytes: (bytes: number) => void,
): Promise<Manifest> {
  const nothing = { bytes: 0, sha256: '' };
  const names = [...(files.key ? [keyPart] : []), ...files.beside.map(({ name }) => name), databasePart];
  const draft: Manifest = {
    ...facts,
    database: nothing,
    parts: names.map((name) => ({ name, ...nothing })),
  };
  const headerBytes = encodeManifest(widest(draft)).length;
  const file = await open(path, 'r+');
  try {
    const parts: BackupPart[] = [];
    const end = (): number => parts.reduce((sum, { bytes }) => sum + bytes, headerBytes);
    if (files.key) parts.push({ name: keyPart, ...(await writeKey(file, files.key, end())) });
    for (const { name, path: from } of files.beside)
      parts.push({ name, ...(await copyInto(file, from, end())) });
    const raw = createTap(onBytes);
    const packed = createTap();
    await pipeline(
      createReadStream(files.database, { highWaterMark: chunkBytes }),
      raw.pass,
      createZstdCompress(level),
      packed.pass,
      writeTo(file, end()),
    );
    parts.push({ name: databasePart, ...packed.result() });
    const whole: Manifest = { ...draft, database: raw.result(), parts };
    await file.write(encodeManifest(whole, headerBytes), 0, headerBytes, 0);
    await file.sync();
    return whole;
  } finally {
    await file.close();
  }
}

/** Writes a stream into the file, which remains open. */
function writeTo(file: FileHandle, start: number) {
  return async (source: AsyncIterable<Buffer>): Promise<void> => {
    let at = start;
    for await (const chunk of source)
      for (let done = 0; done < chunk.length;) {
        const { bytesWritten } = await file.write(chunk, done, chunk.length - done, at);
        done += bytesWritten;
        at += bytesWritten;
      }
  };
}

async function writeKey(file: FileHandle, key: Buffer, at: number): Promise<Checksum> {
  await file.write(key, 0, key.length, at);
  return { bytes: key.length, sha256: createHash('sha256').update(key).digest('hex') };
}

async function copyInto(file: FileHandle, from: string, at: number): Promise<Checksum> {
  const tap = createTap();
  await pipeline(createReadStream(from, { highWaterMark: chunkBytes }), tap.pass, writeTo(file, at));
  return tap.result();
}
