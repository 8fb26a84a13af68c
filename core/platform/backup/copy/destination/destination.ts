// Destination of a continuous copy, a folder or an S3-compatible store, with the names and the encoding of
// the objects in it.
import { open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inTime } from '../../../lib/time/clock.ts';
import { syncPathLater } from '../../../store/files/installation.ts';
import { makePrivateDir } from '../../../store/files/private.ts';
import type { LogHead } from '../../../store/log-head.ts';

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

/** Settings from the environment, which are never logged. */
export interface S3Settings {
  /** Endpoint URL; null for Amazon's endpoint of the region. */
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** @param where absolute path, or `s3://bucket/prefix` */
export function openDestination(where: string, s3: S3Settings): Destination {
  return where.startsWith('s3://') ? openS3(where, s3) : openFolder(where);
}

const unfinished = '.new';

/** Opens a folder, which is private to the user like the data directory. */
export function openFolder(root: string): Destination {
  return {
    title: root,
    folder: root,
    async put(name, bytes) {
      const path = join(root, name);
      makePrivateDir(dirname(path));
      // Writing through an existing symbolic link would overwrite its target.
      await rm(path + unfinished, { force: true });
      const file = await open(path + unfinished, 'wx', 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(path + unfinished, path);
      await syncPathLater(dirname(path));
    },
    get: async (name) => readFile(join(root, name)),
    async list(prefix = '') {
      const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(ifMissing);
      return entries
        .filter((entry) => entry.isFile() && !entry.name.endsWith(unfinished))
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
        .filter((name) => name.startsWith(prefix))
        .sort();
    },
    async delete(names) {
      for (const name of names) await rm(join(root, name), { force: true });
      // Removes folders that are empty now; `rmdir` fails for others.
      const folders = new Set(names.flatMap((name) => parents(name)));
      for (const folder of [...folders].sort((a, b) => b.length - a.length))
        await rmdir(join(root, folder)).catch(() => undefined);
    },
  };
}

const parents = (name: string): string[] => {
  const parent = dirname(name);
  return parent === '.' ? [] : [parent, ...parents(parent)];
};

function ifMissing(error: unknown): [] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}

/** Timeout of a request to the store, which is retried later. */
const answerMs = 60_000;
const deletesAtOnce = 16;

/**
 * Sends requests without the egress guard, which is for requests of tenants: only the operator configures the
 * endpoint. docs/decisions/0025.
 * @param where `s3://bucket/prefix`
 */
function openS3(where: string, settings: S3Settings): Destination {
  const [bucket = '', ...folders] = where.slice('s3://'.length).split('/');
  const prefix = folders.filter((folder) => folder !== '').join('/');
  const root = prefix === '' ? '' : `${prefix}/`;
  const { endpoint, region, accessKeyId, secretAccessKey } = settings;
  const client = new Bun.S3Client({
    bucket,
    accessKeyId,
    secretAccessKey,
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === null ? {} : { region }),
  });
  return {
    title: where,
    folder: null,
    put: async (name, bytes) => void (await answered(client.write(root + name, bytes))),
    get: async (name) => answered(client.file(root + name).bytes()),
    async list(wanted = '') {
      const names: string[] = [];
      for (let after: string | undefined; ;) {
        const page = await answered(
          client.list({ prefix: root + wanted, ...(after === undefined ? {} : { startAfter: after }) }),
        );
        const keys = page.contents?.map(({ key }) => key) ?? [];
        names.push(...keys.map((key) => key.slice(root.length)));
        after = keys.at(-1);
        if (!page.isTruncated || after === undefined) return names.sort();
      }
    },
    async delete(names) {
      for (let at = 0; at < names.length; at += deletesAtOnce)
        await Promise.all(
          names.slice(at, at + deletesAtOnce).map((name) => answered(client.delete(root + name))),
        );
    },
  };
}

/** `Bun.S3Client` has no timeout. */
const answered = <T>(work: Promise<T>): Promise<T> =>
  inTime(
    work,
    answerMs,
    () => new Error('The object store does not respond. Check its endpoint and the network.'),
  );

/** End of a segment, as stated in its object name, so that a listing alone shows which times are covered. */
export interface CopyMoment {
  readonly index: number;
  readonly timeMs: number;
  /** Log position; null if unknown. */
  readonly position: number | null;
}

const digits = (value: number, width: number): string => String(value).padStart(width, '0');

/** Chain names sort by start time. */
export function chainName(beganMs: number, generation: string, random: string): string {
  const stamp = new Date(beganMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${stamp}-${generation}-${random}`;
}

export const chainRoot = (installation: string, chain: string): string => `${installation}/${chain}/`;
export const chainHeadName = (root: string): string => `${root}chain`;
const baseRoot = (root: string, base: number): string => `${root}base-${digits(base, 6)}/`;
export const basePartName = (root: string, base: number, part: number): string =>
  `${baseRoot(root, base)}${digits(part, 8)}`;
export const manifestName = (root: string, base: number): string => `${baseRoot(root, base)}manifest`;

export function segmentPartName(
  root: string,
  { index, timeMs, position, part, parts }: CopyMoment & { part: number; parts: number },
): string {
  const of = `${digits(part, 6)}of${digits(parts, 6)}`;
  return `${root}segments/${digits(index, 10)}-${of}-${digits(timeMs, 13)}-${position ?? 'x'}`;
}

/**
 * Parsed object name; `other` for an unknown object of a chain. Names are `<installation>/<chain>/`, followed
 * by `chain`, `base-<number>/<part>`, `base-<number>/manifest`, or
 * `segments/<index>-<part>of<parts>-<time>-<log position>`.
 */
export type ParsedName = {
  readonly root: string;
  readonly installation: string | null;
  readonly chain: string;
} & (
  | { readonly is: 'head' | 'other' }
  | { readonly is: 'base'; readonly base: number; readonly part: number | 'manifest' }
  | ({ readonly is: 'segment'; readonly part: number; readonly parts: number } & CopyMoment)
);

const chainPattern = /^((?:([0-9a-f]{32})\/)?(\d{8}T\d{6}Z-[0-9a-f]+-[0-9a-f]{8})\/)(.+)$/;

/** @param name relative to the root of the destination, or to the folder of one installation */
export function parseName(name: string): ParsedName | null {
  const [, root, installation, chain, rest] = chainPattern.exec(name) ?? [];
  if (root === undefined || chain === undefined || rest === undefined) return null;
  const of = { root, installation: installation ?? null, chain };
  return rest === 'chain' ? { ...of, is: 'head' } : { ...of, ...(baseOf(rest) ?? segmentOf(rest) ?? other) };
}

const other = { is: 'other' } as const;

function baseOf(rest: string) {
  const [, base, part] = /^base-(\d{6})\/(\d{8}|manifest)$/.exec(rest) ?? [];
  if (base === undefined || part === undefined) return null;
  const number = part === 'manifest' ? part : Number(part);
  return { is: 'base', base: Number(base), part: number } as const;
}

function segmentOf(rest: string) {
  const groups = /^segments\/(\d{10})-(\d{6})of(\d{6})-(\d{13})-(\d+|x)$/.exec(rest)?.slice(1);
  if (!groups) return null;
  const [index = 0, part = 0, parts = 0, timeMs = 0, position = 0] = groups.map(Number);
  return {
    is: 'segment',
    index,
    part,
    parts,
    timeMs,
    position: Number.isNaN(position) ? null : position,
  } as const;
}

interface SegmentPart {
  readonly kind: 'segment';
  readonly chain: string;
  readonly index: number;
  readonly part: number;
  readonly parts: number;
  readonly timeMs: number;
  /** Log head after the segment; null if there is none yet. */
  readonly head: LogHead | null;
  readonly pageBytes: number;
  /** Size of the database after the segment; null if nothing was committed. */
  readonly dbPages: number | null;
}

interface BasePart {
  readonly kind: 'base';
  readonly chain: string;
  readonly base: number;
  readonly part: number;
  /** Offset in the database file, in bytes. */
  readonly offset: number;
}

/** Manifest of a base, written after all its parts. */
export interface BaseManifest {
  readonly kind: 'manifest';
  readonly chain: string;
  readonly base: number;
  readonly parts: number;
  readonly fileBytes: number;
  /** Index of the first segment to apply. */
  readonly first: number;
  /** Index of the first segment after which the database is consistent. */
  readonly end: number;
  readonly beganMs: number;
  readonly endedMs: number;
}

/** First object of a chain. */
interface ChainHead {
  readonly kind: 'chain';
  readonly chain: string;
  readonly installation: string;
  readonly generation: string;
  readonly beganMs: number;
  /** Version of Tatami that started the chain. */
  readonly version: string;
}

type ObjectHead = SegmentPart | BasePart | BaseManifest | ChainHead;

const newline = 0x0a;
const sumBytes = 64;

/**
 * Returns a line with the SHA-256 of the rest, a line of JSON, and the compressed payload, so that each
 * object can be verified without the others.
 */
export async function encodeObject(
  head: ObjectHead,
  payload: Uint8Array = new Uint8Array(),
): Promise<Buffer> {
  const packed = payload.length === 0 ? payload : await Bun.zstdCompress(payload, { level: 1 });
  const content = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), packed]);
  return Buffer.concat([Buffer.from(`${sha256(content)}\n`), content]);
}

/** @throws Error if the object is damaged or of another kind */
export async function decodeObject<K extends ObjectHead['kind']>(
  kind: K,
  bytes: Uint8Array,
): Promise<{ head: Extract<ObjectHead, { kind: K }>; payload: Uint8Array }> {
  const content = bytes.subarray(sumBytes + 1);
  if (Buffer.from(bytes.subarray(0, sumBytes)).toString('latin1') !== sha256(content))
    throw new Error('the checksum is wrong');
  const end = content.indexOf(newline);
  const head = JSON.parse(new TextDecoder().decode(content.subarray(0, end))) as ObjectHead;
  if (!isKind(head, kind)) throw new Error(`the object is a ${head.kind} instead of a ${kind}`);
  const packed = content.subarray(end + 1);
  return { head, payload: packed.length === 0 ? packed : await Bun.zstdDecompress(packed) };
}

const isKind = <K extends ObjectHead['kind']>(
  head: ObjectHead,
  kind: K,
): head is Extract<ObjectHead, { kind: K }> => head.kind === kind;

const sha256 = (bytes: Uint8Array): string => new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
