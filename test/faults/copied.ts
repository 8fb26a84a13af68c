// Helpers for tests of the continuous copy: a database file assembled from the copy, and its content.
import Database from 'libsql';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assembleAt, type Assembled } from '../../core/platform/backup/copy/assemble.ts';
import {
  openDestination,
  type Destination,
} from '../../core/platform/backup/copy/destination/destination.ts';

export interface Copied extends Assembled {
  /** Titles in order of creation. */
  readonly titles: readonly string[];
  readonly events: number;
}

export const temporary = (): string => mkdtempSync(join(tmpdir(), 'tatami-copy-'));

export const noS3 = { endpoint: null, region: null, accessKeyId: '', secretAccessKey: '' };

/** @param from a folder, or an opened destination */
export async function copied(from: string | Destination, timeMs: number | null = null): Promise<Copied> {
  const dir = temporary();
  const path = join(dir, 'tatami.db');
  try {
    const source = typeof from === 'string' ? openDestination(from, noS3) : from;
    const assembled = await assembleAt(source, timeMs, path);
    return { ...assembled, ...contentOf(path) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export function contentOf(path: string): { titles: string[]; events: number } {
  const db = new Database(`file:${path}?immutable=1`);
  const rows = db.prepare('SELECT title FROM issues ORDER BY number').all() as { title: string }[];
  const [count] = db.prepare('SELECT count(*) AS events FROM events').all() as { events: number }[];
  db.close();
  return { titles: rows.map(({ title }) => title), events: count?.events ?? 0 };
}
