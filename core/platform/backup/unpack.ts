// Reads a backup sequentially and verifies every byte against the checksums in its manifest. Parts are written during the read, and are
// valid only if the function succeeds.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { makePrivateDir, makePrivateFile } from '../store/files/private.ts';
import {
  backupBytes,
  DamagedBackup,
  databasePart,
  decodeManifest,
  keyPart,
  type BackupPart,
  type Checksum,
  type Manifest,
} from './manifest.ts';
import { chunkBytes, createTap } from './pack.ts';

/** @throws DamagedBackup if the manifest or the length of the file is wrong */
export async function readManifest(
  path: string,
): Promise<{ manifest: Manifest; headerBytes: number; bytes: number }> {
  const file = await open(path, 'r');
  try {
    const read = await decodeManifest(async () => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024);
      return buffer.subarray(0, bytesRead);
    });
    const bytes = backupBytes(read.manifest, read.headerBytes);
    const { size } = await stat(path);
    if (size !== bytes)
      throw new DamagedBackup(
        `The backup has ${size} bytes, but should have ${bytes}. Copy it again, or use another backup.`,
      );
    return { ...read, bytes };
  } finally {
    await file.close();
  }
}

export interface Unpacked {
  readonly manifest: Manifest;
  /** Content of `master.key`; null if the backup has none. */
  readonly key: Buffer | null;
}

/**
 * Reads and verifies a backup. Writes every part except the key to a file of its name, and the database to
 * `tatami.db`.
 * @param folder target folder; null verifies only
 * @param onBytes called with the number of unpacked bytes of the database, and the total
 * @throws DamagedBackup
 */
export async function unpackBackup(
  path: string,
  folder: string | null,
  onBytes: (bytes: number, totalBytes: number) => void = () => undefined,
): Promise<Unpacked> {
  const { manifest, headerBytes } = await readManifest(path);
  let at = headerBytes;
  let key: Buffer | null = null;
  for (const part of manifest.parts) {
    if (part.name === keyPart) key = await readKey(path, part, at);
    else if (part.name === databasePart)
      await unpackDatabase({ path, part, at, folder }, manifest, (bytes) =>
        onBytes(bytes, manifest.database.bytes),
      );
    else await copyPart({ path, part, at, folder });
    at += part.bytes;
  }
  return { manifest, key };
}

interface PartSource {
  readonly path: string;
  readonly part: BackupPart;
  readonly at: number;
}

interface UnpackedPart extends PartSource {
  readonly folder: string | null;
}

/** An empty part has no last byte at which a file stream could end. */
const bytesOf = ({ path, part, at }: PartSource): Readable =>
  part.bytes === 0
    ? Readable.from([])
    : createReadStream(path, { start: at, end: at + part.bytes - 1, highWaterMark: chunkBytes });

async function unpackDatabase(
  source: UnpackedPart,
  manifest: Manifest,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const packed = createTap();
  const raw = createTap(onBytes);
  try {
    await pipeline(
      bytesOf(source),
      packed.pass,
      createZstdDecompress(),
      raw.pass,
      sink(source.folder, 'tatami.db'),
    );
  } catch (cause) {
    // A zstd error has no syscall; a system error such as a full disk has one, and does not mean a damaged backup.
    if (cause instanceof Error && 'syscall' in cause) throw cause;
    throw new DamagedBackup('The database in the backup is damaged. Use another backup.', { cause });
  }
  compare('database', packed.result(), source.part);
  compare('database', raw.result(), manifest.database);
}

async function copyPart(source: UnpackedPart): Promise<void> {
  const tap = createTap();
  await pipeline(bytesOf(source), tap.pass, sink(source.folder, source.part.name));
  compare(source.part.name, tap.result(), source.part);
}

async function readKey(path: string, part: BackupPart, at: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytesOf({ path, part, at })) chunks.push(chunk as Buffer);
  const key = Buffer.concat(chunks);
  compare('key', { bytes: key.length, sha256: createHash('sha256').update(key).digest('hex') }, part);
  return key;
}

function compare(what: string, actual: Checksum, wanted: Checksum): void {
  if (actual.bytes !== wanted.bytes || actual.sha256 !== wanted.sha256)
    throw new DamagedBackup(`The ${what} in the backup is damaged. Use another backup.`);
}

function sink(folder: string | null, name: string): Writable {
  if (folder === null) return new Writable({ write: (_chunk, _encoding, done) => done() });
  const path = join(folder, name);
  if (dirname(name) !== '.') {
    makePrivateDir(join(folder, name.slice(0, name.indexOf('/'))));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  }
  makePrivateFile(path);
  return createWriteStream(path, { flags: 'r+' });
}
