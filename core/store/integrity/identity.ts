// Which files on which disk a data directory is made of, and whether its server was stopped: the file `identity`. A copy has other
// inodes, so that a start recognises one, and takes only that of a stopped server. docs/decisions/0023.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { LogHead } from '../log-head.ts';
import { writeWholeFile } from '../whole-file.ts';

/** The files that are made once and never replaced. */
export interface Kept {
  readonly database: string;
  readonly logHead: string;
}

export interface Identity {
  /** `open`: a server runs, or was killed. */
  readonly state: 'open' | 'closed';
  readonly files: string;
  /** Of the log, when the state was written. */
  readonly head: LogHead;
}

/** It is there twice, so that one damaged place does not cost it. */
const copyBytes = 512;

export function filesOf(kept: Kept): string {
  return [kept.database, kept.logHead].map((path) => statSync(path, { bigint: true }).ino).join('-');
}

/** Null where every copy of it is damaged; undefined where there is none. */
export function readIdentity(path: string): Identity | null | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return decode(bytes.subarray(0, copyBytes)) ?? decode(bytes.subarray(copyBytes));
}

/** Durable on return. @throws Error with the system's `code` where the directory cannot be written */
export function writeIdentity(path: string, kept: Kept, state: Identity['state'], head: LogHead): void {
  const copy = encode({ state, files: filesOf(kept), head });
  writeWholeFile(path, copy + copy);
}

function encode({ state, files, head }: Identity): string {
  const text = `${state} ${files} ${head.position} ${head.hash}`;
  return `${text} ${checksum(text)}\n`.padEnd(copyBytes, ' ');
}

function decode(copy: Buffer): Identity | null {
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
