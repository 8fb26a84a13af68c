// Copies of a data directory for the tests of `tatami doctor`, each to be damaged, checked and fixed.
import { afterAll, beforeAll } from 'bun:test';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../core/app/config/config.ts';
import { examine, type Checked } from '../../core/app/doctor/doctor.ts';
import { openSubject } from '../../core/app/doctor/subject.ts';
import { writeIdentity } from '../../core/platform/store/integrity/identity.ts';
import { readLogHead } from '../../core/platform/store/log-head.ts';
import { openStore } from '../../core/platform/store/open-store.ts';
import { readPacked, unpack } from '../upgrade/packed.ts';

const packed = readPacked(join(import.meta.dir, '../upgrade/directories/schema-1.json.zst'));
export const parent = mkdtempSync(join(tmpdir(), 'tatami-doctor-'));
const whole = join(parent, 'whole');

/** Creates the directory that the tests of a file copy, and removes all copies at the end. */
export function makeDirectory(): void {
  beforeAll(async () => {
    mkdirSync(parent, { recursive: true });
    unpack(packed, whole);
    await openStore(whole, Date.now).close();
  });
  afterAll(() => rmSync(parent, { recursive: true, force: true }));
}

let copies = 0;
export function copy(): string {
  const dir = join(parent, String(++copies));
  // SQLite removes these empty files when a connection is collected, which may be during the copy.
  cpSync(whole, dir, { recursive: true, filter: (from) => !/-(wal|shm)$/.test(from) });
  chmodSync(dir, 0o700);
  return dir;
}

/** Without the jail, which these tests do not cover. */
export async function examined(dir: string, nowMs = Date.now()): Promise<Checked[]> {
  const subject = openSubject(
    readConfig(
      { dataDir: dir, sandboxJail: 'off', backupDir: existsSync(backupsOf(dir)) ? backupsOf(dir) : '' },
      {},
    ),
    nowMs,
  );
  return examine(subject, () => undefined).finally(subject.close);
}

export function contentsOf(dir: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.endsWith('-shm') && statSync(join(dir, name)).isFile())
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(dir, name)))
          .digest('hex'),
      ]),
  );
}

export const backupsOf = (dir: string): string => `${dir}-backups`;

export function flip(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.length - 13_000;
  bytes[at] = bytes[at]! ^ 8;
  writeFileSync(path, bytes);
}

/** Changes the directory to a copy made by `cp -r` while a server runs. */
export function asRunning(dir: string): void {
  const identityFiles = { database: join(whole, 'tatami.db'), logHead: join(whole, 'log-head') };
  writeIdentity(join(dir, 'identity'), identityFiles, 'open', readLogHead(identityFiles.logHead));
}

export const errorsOf = (results: readonly Checked[]): string[] =>
  results.flatMap(({ check, findings }) =>
    findings.filter(({ level }) => level === 'error').map(({ message }) => `${check}: ${message}`),
  );
