// Reads a backup sequentially and verifies every byte: headers, padding and `SHA256SUMS` must be as this program writes them, and contents
// must match `SHA256SUMS`. Parts are written during the read, and are valid only if the function succeeds.
import { mkdirSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { makePrivateDir } from '../store/files/private.ts';
import { requireSpace } from '../store/integrity/page-file.ts';
import {
  DamagedBackup,
  databasePart,
  decodeManifest,
  encodeSums,
  keyBytesMax,
  keyPart,
  manifestBytesMax,
  manifestPart,
  sha256Of,
  sumLine,
  sumsPart,
  targetOf,
  timeOf,
  type Checksum,
  type Manifest,
  type Sums,
} from './manifest.ts';
import {
  chunkBytes,
  createTap,
  writeTo,
  blockBytes,
  decodeHeader,
  endBytes,
  paddingOf,
  type TarHeader,
} from './pack.ts';

export interface Unpacked {
  readonly manifest: Manifest;
  readonly sums: Sums;
  /** Content of `master.key`; null if the backup has none. */
  readonly key: Buffer | null;
}

interface Part extends TarHeader {
  /** Offset of the content. */
  readonly at: number;
}

interface OpenBackup {
  readonly file: FileHandle;
  readonly size: number;
  readonly manifest: Manifest;
  readonly first: Part;
  /** SHA-256 of `manifest.json`. */
  readonly manifestSha256: string;
}

/** @throws DamagedBackup if the manifest is wrong, or the file does not end with its checksum */
export const readManifest = (path: string): Promise<Manifest> =>
  withBackup(path, ({ manifest }) => Promise.resolve(manifest));

/**
 * Reads and verifies a backup. Writes every part except the key to its place below the folder.
 * @param folder target folder; null verifies only
 * @param onBytes called with the number of unpacked bytes, and the total
 * @throws DamagedBackup
 */
export async function unpackBackup(
  path: string,
  folder: string | null,
  onBytes: (bytes: number, totalBytes: number) => void = () => undefined,
): Promise<Unpacked> {
  return withBackup(path, async (backup) => {
    const { manifest } = backup;
    if (folder !== null) requireSpace(folder, manifest.unpackedBytes, 'The unpacked backup');
    const sums = new Map([[manifestPart, backup.manifestSha256]]);
    let key: Buffer | null = null;
    let unpackedBytes = 0;
    // Bounds what a part that compresses extremely well can fill.
    const count = (bytes: number): void => {
      unpackedBytes += bytes;
      if (unpackedBytes > manifest.unpackedBytes) throw mismatch();
      onBytes(unpackedBytes, manifest.unpackedBytes);
    };
    let database: Checksum | null = null;
    let part = await nextPart(backup, backup.first);
    for (; part.name !== sumsPart; part = await nextPart(backup, part)) {
      const { name } = part;
      if (sums.has(name)) throw mismatch();
      if (name === keyPart) key = await readKey(backup, part);
      const { packed, raw } = await unpackPart(backup, part, folder, count);
      sums.set(name, packed.sha256);
      if (name === databasePart) database = raw;
    }
    await requireEnd(backup, part, sums);
    if (unpackedBytes !== manifest.unpackedBytes || (key !== null) !== manifest.withKey) throw mismatch();
    if (database?.sha256 !== manifest.database.sha256) throw damaged(databasePart);
    return { manifest, sums, key };
  });
}

const damaged = (name: string, cause?: unknown): DamagedBackup =>
  new DamagedBackup(
    `The ${name === databasePart ? 'database' : name} in the backup is damaged. Use another backup.`,
    { cause },
  );
const mismatch = (): DamagedBackup =>
  new DamagedBackup('The parts of the backup do not match its manifest. Use another backup.');

async function withBackup<T>(path: string, use: (backup: OpenBackup) => Promise<T>): Promise<T> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const header = decodeHeader(await readAt(file, 0, blockBytes));
    if (header?.name !== manifestPart || header.bytes > Math.min(size, manifestBytesMax))
      throw new DamagedBackup(
        'The file is not a backup of Tatami, or its beginning is damaged. Use another backup.',
      );
    const bytes = await readAt(file, blockBytes, header.bytes);
    const manifest = decodeManifest(bytes);
    const manifestSha256 = sha256Of(bytes);
    await requireTail(file, size, sumLine(manifestPart, manifestSha256));
    if (header.timeS !== timeOf(manifest)) throw mismatch();
    return await use({ file, size, manifest, manifestSha256, first: { ...header, at: blockBytes } });
  } finally {
    await file.close();
  }
}

/** Finds a truncated or extended file and a changed manifest without reading the parts. */
async function requireTail(file: FileHandle, size: number, lastLine: string): Promise<void> {
  const tailBytes = Math.min(size, lastLine.length + blockBytes + endBytes);
  const tail = (await readAt(file, size - tailBytes, tailBytes)).toString('latin1');
  const text = tail.replace(/\0+$/, '');
  const zeros = tail.length - text.length;
  const isEnd = zeros >= endBytes && zeros < endBytes + blockBytes && size % blockBytes === 0;
  if (!isEnd || !text.endsWith(lastLine))
    throw new DamagedBackup(
      'The backup does not end with the checksum of its manifest: bytes are missing, were added or were changed. Copy it again, or use another backup.',
    );
}

/** @throws DamagedBackup unless zeros fill the last block of the part, and a file of this backup and within its size follows */
async function nextPart({ file, size, manifest }: OpenBackup, { name, bytes, at }: Part): Promise<Part> {
  const between = await readAt(file, at + bytes, paddingOf(bytes) + blockBytes);
  const header = decodeHeader(between.subarray(paddingOf(bytes)));
  const start = at + bytes + between.length;
  const hasZeros = between.subarray(0, paddingOf(bytes)).every((byte) => byte === 0);
  if (!hasZeros || header?.timeS !== timeOf(manifest) || start + header.bytes + endBytes > size)
    throw new DamagedBackup(`The backup is damaged after its part ${name}. Use another backup.`);
  return { ...header, at: start };
}

async function unpackPart(
  { file }: OpenBackup,
  { name, bytes, at }: Part,
  folder: string | null,
  count: (bytes: number) => void,
): Promise<{ packed: Checksum; raw: Checksum }> {
  const { path, isCompressed } = targetOf(name);
  const sink = fileFor(folder, path);
  const packed = createTap();
  const raw = createTap(count);
  const content = packed.pass(readRange(file, at, bytes));
  try {
    if (isCompressed) await pipeline(content, createZstdDecompress(), raw.pass, sink);
    else await pipeline(content, raw.pass, sink);
  } catch (cause) {
    // A zstd error has no syscall; a system error such as a full disk has one, and does not mean a damaged backup.
    if (cause instanceof DamagedBackup || (cause instanceof Error && 'syscall' in cause)) throw cause;
    throw damaged(name, cause);
  }
  return { packed: packed.result(), raw: raw.result() };
}

function readKey({ file }: OpenBackup, { bytes, at }: Part): Promise<Buffer> {
  if (bytes > keyBytesMax) throw mismatch();
  return readAt(file, at, bytes);
}

/** @throws DamagedBackup unless the file ends with the checksums of the parts that were read */
async function requireEnd({ file, size }: OpenBackup, { bytes, at }: Part, sums: Sums): Promise<void> {
  const wanted = encodeSums(sums);
  const end = Buffer.alloc(wanted.length + paddingOf(wanted.length) + endBytes);
  end.write(wanted, 'latin1');
  const stored = await readAt(file, at, end.length);
  if (bytes === wanted.length && at + end.length === size && stored.equals(end)) return;
  const lines = new Set(stored.toString('latin1').split('\n'));
  const wrong = [...sums].find(([name, sha256]) => !lines.has(sumLine(name, sha256).trim()));
  throw damaged(wrong?.[0] ?? sumsPart);
}

/** Returns fewer bytes only at the end of the file. */
async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, at);
  return buffer.subarray(0, bytesRead);
}

async function* readRange(file: FileHandle, at: number, bytes: number): AsyncGenerator<Buffer> {
  for (let done = 0; done < bytes;) {
    const chunk = await readAt(file, at + done, Math.min(chunkBytes, bytes - done));
    if (chunk.length === 0) throw new DamagedBackup('The backup became shorter while it was read.');
    done += chunk.length;
    yield chunk;
  }
}

function fileFor(folder: string | null, name: string | null): Writable {
  if (folder === null || name === null) return new Writable({ write: (_chunk, _encoding, done) => done() });
  const path = join(folder, name);
  if (dirname(name) !== '.') {
    makePrivateDir(join(folder, name.slice(0, name.indexOf('/'))));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  }
  return writeTo(path);
}
