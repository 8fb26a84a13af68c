// Identifies a data directory by the file `identity`: the inodes of the directory's files, and the state of
// its server. A copy has other inodes, so a start detects it, and accepts only a copy of a stopped server.
// docs/decisions/0023.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { writeWholeFile } from '../files/installation.ts';
import { readLogHead, resetLogHead, type LogHead } from '../log-head.ts';
import { openPageFile } from './page-file.ts';
import { dropSums, makeSums, writeSums } from './page-sums.ts';
import { isEmptyFile } from './verify.ts';

/** Files that are created once and never replaced. */
export interface IdentityFiles {
  readonly database: string;
  readonly logHead: string;
}

export interface DataDirectory extends IdentityFiles {
  readonly path: string;
  readonly identity: string;
}

export type Recognised = 'own' | 'new' | 'moved';

interface DirectoryIdentity {
  /** `open` while a server runs, or after it was killed. */
  readonly state: 'open' | 'closed';
  readonly files: string;
  /** Log head at the time the state was written. */
  readonly head: LogHead;
}

const wayBack =
  'Make a backup of the original with `tatami backup` and restore it, or stop its server and copy the whole directory again. ' +
  'If the original is gone, `tatami doctor` reports the content of this copy.';

export const incompleteCopy = (missing: string): string =>
  `${missing} is missing: this is not a complete data directory, and the database alone may lack acknowledged writes or be damaged. ${wayBack}`;

/**
 * Classifies the data directory at start: own, new, or moved while no server ran. Refuses files of different
 * times, because the database state that they form never existed.
 * @throws Error if the files do not belong together
 */
export function recognise(dir: DataDirectory): Recognised {
  const identity = readIdentity(dir.identity);
  const head = existsSync(dir.logHead) ? readLogHead(dir.logHead) : null;
  if (isEmptyFile(dir.database)) return recogniseNew(dir, identity ?? null, head);
  if (identity === undefined) throw new Error(incompleteCopy(dir.identity));
  if (identity === null)
    throw new Error(
      `${dir.identity} is damaged: Tatami cannot tell if this is the original directory or a copy of it. ` +
        'Restore a backup with `tatami restore`, or check and accept the database with `tatami doctor` and `tatami doctor fix accept`.',
    );
  if (!head) throw new Error(incompleteCopy(dir.logHead));
  return identity.files === filesOf(dir) ? 'own' : recogniseCopy(dir, identity, head);
}

function recogniseNew(dir: DataDirectory, identity: DirectoryIdentity | null, head: LogHead | null): 'new' {
  const position = Math.max(identity?.head.position ?? 0, head?.position ?? 0);
  if (position > 0)
    throw new Error(`${dir.database} is missing or empty, but it had ${position} commits. ${wayBack}`);
  return 'new';
}

function recogniseCopy(dir: DataDirectory, identity: DirectoryIdentity, head: LogHead): 'moved' {
  if (identity.state === 'open')
    throw new Error(
      `${dir.path} is a copy of a data directory whose server was running or had been killed: its files are from different moments, and acknowledged writes may be missing or damaged. ${wayBack}`,
    );
  const isWhole =
    identity.head.position === head.position &&
    identity.head.hash === head.hash &&
    isEmptyFile(`${dir.database}-wal`);
  if (!isWhole)
    throw new Error(
      `${dir.path} was assembled from copies of different moments: acknowledged writes may be missing or damaged. ${wayBack}`,
    );
  return 'moved';
}

/** Returns the schema version; 0 if it cannot be read. */
export function schemaOfFile(database: string): number {
  if (isEmptyFile(database)) return 0;
  const file = openPageFile(database);
  try {
    return file.header()?.schema ?? 0;
  } finally {
    file.close();
  }
}

/**
 * Adopts a database file into a data directory, at the end of a restore or when the operator accepts a copy:
 * checkpoints its log, and recreates log head, page checksums and identity from its content. Does not check
 * the content; call `checkWhole` first. The caller holds the lock of `openDataDir`, so no server has the
 * directory open.
 * @throws Error if the file is not a database of Tatami
 */
export function adoptDatabase(dir: string): void {
  const database = join(dir, 'tatami.db');
  const logHead = join(dir, 'log-head');
  // The checksums are dropped first: if the process is killed later, old checksums would report damage.
  dropSums(database);
  const head = checkpointAll(database);
  resetLogHead(logHead, head);
  writeSums(database, sumsOfFile(database));
  writeIdentity(join(dir, 'identity'), { database, logHead }, 'closed', head);
}

/** Checkpoints the whole log. @returns the log head in the database */
function checkpointAll(database: string): LogHead {
  const db = new Database(database);
  try {
    db.prepare('PRAGMA journal_mode = WAL').all();
    db.prepare('PRAGMA synchronous = FULL').all();
    const [head] = db.prepare('SELECT position, hash FROM log_head WHERE id = 1').all() as LogHead[];
    if (!head) throw new Error(`${database} has no log head: it was not made by Tatami. Restore a backup.`);
    db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    return { position: head.position, hash: head.hash };
  } finally {
    db.close();
  }
}

/** Returns checksums of all pages of the file. A page with a frame in the log gets its checksum at the checkpoint. */
export function sumsOfFile(database: string): Buffer {
  const file = openPageFile(database);
  try {
    return makeSums(file.pageBytes, (add) =>
      file.eachInFile((page, content) => add(file.log?.frameOf.has(page) ? null : content)),
    );
  } finally {
    file.close();
  }
}

/** Size of one copy; the identity is stored twice, so that one damaged sector does not lose it. */
const copyBytes = 512;

export function filesOf(files: IdentityFiles): string {
  return [files.database, files.logHead].map((path) => statSync(path, { bigint: true }).ino).join('-');
}

/** Returns null if both copies are damaged, undefined if there is no file. */
export function readIdentity(path: string): DirectoryIdentity | null | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return decode(bytes.subarray(0, copyBytes)) ?? decode(bytes.subarray(copyBytes));
}

/** Durable on return. @throws Error with the system's `code` if the directory cannot be written */
export function writeIdentity(
  path: string,
  files: IdentityFiles,
  state: DirectoryIdentity['state'],
  head: LogHead,
): void {
  const copy = encode({ state, files: filesOf(files), head });
  writeWholeFile(path, copy + copy);
}

function encode({ state, files, head }: DirectoryIdentity): string {
  const text = `${state} ${files} ${head.position} ${head.hash}`;
  return `${text} ${checksum(text)}\n`.padEnd(copyBytes, ' ');
}

function decode(copy: Buffer): DirectoryIdentity | null {
  const [state = '', files = '', position = '', hash = '', sum = ''] = copy
    .toString('latin1')
    .trimEnd()
    .split(' ');
  if (sum !== checksum(`${state} ${files} ${position} ${hash}`)) return null;
  if (state !== 'open' && state !== 'closed') return null;
  return { state, files, head: { position: Number(position), hash } };
}

function checksum(text: string): string {
  return createHash('sha256').update(`identity ${text}`).digest('hex').slice(0, 16);
}
