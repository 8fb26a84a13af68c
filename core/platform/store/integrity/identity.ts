// Reads and writes the file `identity`: the inodes of the directory's files, and the state of its server. A
// copy has other inodes, so a start detects it, and accepts only a copy of a stopped server.
// docs/decisions/0023.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { LogHead } from '../log-head.ts';
import { writeWholeFile } from '../files/whole-file.ts';

/** Files that are created once and never replaced. */
export interface IdentityFiles {
  readonly database: string;
  readonly logHead: string;
}

export interface DirectoryIdentity {
  /** `open` while a server runs, or after it was killed. */
  readonly state: 'open' | 'closed';
  readonly files: string;
  /** Log head at the time the state was written. */
  readonly head: LogHead;
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
