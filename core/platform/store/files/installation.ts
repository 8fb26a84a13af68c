// Installation-wide state: name, log generation, the pause of outgoing activity after a restore, and the
// master key files. Also writes small files durably.
import { timingSafeEqual } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fingerprintOf } from '../../lib/secrets/sealing.ts';
import { systemStatement, tenantStatement } from '../statement.ts';
import { systemOp, type Op, type Scope, type Store } from '../store.ts';
import { makePrivateFile } from './private.ts';

export interface Installation {
  /** Name of the installation, which restores retain. */
  readonly name: string;
  /** Current log generation; each restore begins a new one. */
  readonly generation: string;
  /** Fingerprint of the master key; null until the first start has recorded it. */
  readonly keyFingerprint: string | null;
  /** Time at which a restore paused webhooks, plugins and schedules until `tatami release` (milliseconds); null if they run. */
  readonly pausedAtMs: number | null;
}

/** Boundary between two log generations: a sequence after `afterSequence` denotes different events in the two generations. */
interface LogCut {
  /** Ordinal within the workspace, from 1. */
  readonly number: number;
  /** Log generation that begins here. */
  readonly generation: string;
  readonly afterSequence: number;
}

const why = 'the installation is shared by all workspaces';

const readRow = systemStatement<{
  name: string;
  generation: string;
  key_fingerprint: string | null;
  paused_at: number | null;
}>(
  'installation.read',
  why,
  'SELECT name, generation, key_fingerprint, paused_at FROM installation WHERE id = 1',
);

const releaseRow = systemStatement(
  'installation.release',
  why,
  'UPDATE installation SET paused_at = NULL WHERE id = 1',
);

const cutsOf = tenantStatement<{ number: number; generation: string; after_sequence: number }>(
  'log_cuts.list',
  'SELECT number, generation, after_sequence FROM log_cuts WHERE workspace_id = :ws ORDER BY number',
);

export async function readInstallation(store: Store): Promise<Installation> {
  const [row] = await store.readSystem(readRow);
  if (!row)
    throw new Error('The database has no installation row: it was not made by Tatami. Restore a backup.');
  return {
    name: row.name,
    generation: row.generation,
    keyFingerprint: row.key_fingerprint,
    pausedAtMs: row.paused_at,
  };
}

/** Returns the cuts of a workspace in the order of their creation; empty if it was never restored. */
export async function logCuts(store: Store, scope: Scope): Promise<LogCut[]> {
  const rows = await store.read(scope, cutsOf);
  return rows.map((row) => ({
    number: row.number,
    generation: row.generation,
    afterSequence: row.after_sequence,
  }));
}

/** Ends the pause of webhooks, plugins and schedules after a restore. */
export const releaseOp = (): Op => systemOp(releaseRow, {});

/** Path of the new key while `tatami master-key rotate` re-encrypts all secrets. */
export const nextKeyFile = (keyFile: string): string => `${keyFile}.next`;

/** Returns the 32 bytes of the key; null if the file is missing or has other content. */
export function readKeyFile(path: string): Uint8Array | null {
  if (!existsSync(path)) return null;
  const key = new Uint8Array(Buffer.from(readFileSync(path, 'utf8').trim(), 'base64'));
  return key.length === 32 ? key : null;
}

/**
 * Returns the key that matches the fingerprint recorded in the database: the one in the file, or the new one
 * of a rotation that was killed after re-encryption; null if neither matches.
 */
export function fittingKey(
  keyFile: string,
  masterKey: Uint8Array,
  fingerprint: string,
): { key: Uint8Array; isNext: boolean } | null {
  if (isOf(masterKey, fingerprint)) return { key: masterKey, isNext: false };
  const next = readKeyFile(nextKeyFile(keyFile));
  return next && isOf(next, fingerprint) ? { key: next, isNext: true } : null;
}

function isOf(key: Uint8Array, fingerprint: string): boolean {
  const own = fingerprintOf(key);
  return own.length === fingerprint.length && timingSafeEqual(Buffer.from(own), Buffer.from(fingerprint));
}

export const otherFingerprint = (masterKey: Uint8Array, fingerprint: string): string =>
  `its fingerprint is ${fingerprintOf(masterKey)}, but the database needs ${fingerprint}`;

export const otherKey = (keyFile: string, why: string): string =>
  `${keyFile} is not the key of this database: ${why}. Restore the right key file, from an earlier copy of the directory or from a backup.`;

/**
 * Writes a small file atomically and durably: a start that is killed midway must not leave an empty key that
 * blocks every later start.
 */
export function writeWholeFile(path: string, content: string | Uint8Array): void {
  makePrivateFile(`${path}.new`, content);
  nameWholeFile(`${path}.new`, path);
}

/** Renames a finished file to its final name. Content and name are durable on return. */
export function nameWholeFile(unfinished: string, path: string): void {
  syncPath(unfinished);
  renameSync(unfinished, path);
  syncPath(dirname(path));
}

/** Syncs a file, or the entries of a folder. */
export function syncPath(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** As `syncPath`, without blocking the event loop. */
export async function syncPathLater(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
