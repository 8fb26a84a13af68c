// Removes expired data and returns its space to the disk, soon after the start and then periodically. Events are never removed, because
// history, undo and backfill read them; payloads of old ones may move to archive files, which remain readable.
import type { Clock } from '../../platform/lib/time/clock.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import type { Log } from '../../platform/lib/log.ts';
import type { Blobs } from '../../platform/store/files/blobs.ts';
import {
  StoreError,
  type Store,
  scopeOf,
  systemOp,
  tenantOp,
  backgroundCommitDelayMs,
  type Op,
  type Scope,
} from '../../platform/store/store.ts';
import type { Config } from '../config/config.ts';
import { tables } from '../../features/tables.ts';
import { sweepsOf, type Sweep } from '../../kernel/table/sweeps.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import { systemStatement, type Params, type Value } from '../../platform/store/statement.ts';
import { archiveEvents } from '../../kernel/events/log/archiving.ts';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { firstIdOf } from '../../platform/lib/ids.ts';

/** Delay of the first pass, so that other start-up work runs first. */
const firstAfterMs = 15_000;
const everyMs = 600_000;

/** Retention settings in days; null disables removal. */
type RetentionSettings = Config['retention'];

export const sweeps = sweepsOf(tables);

export interface Housekeeping {
  start(): void;
  /** Runs all removals until nothing is left to remove. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

interface HousekeepingOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly retention: RetentionSettings;
  readonly blobs: Blobs;
  /** Folder of the snapshots. */
  readonly snapshots: string;
}

const referencedBlobs = systemStatement<{ sha256: string }>(
  'attachments.blobs_named',
  'a blob is shared by all workspaces, and stays while one of them references it',
  `SELECT DISTINCT sha256 FROM attachments INDEXED BY attachments_blob
   WHERE deleted_at IS NULL AND sha256 IS NOT NULL AND sha256 IN (SELECT value FROM json_each(:names))`,
);

/**
 * Removes file contents without an attachment: those of deleted attachments, and uploads whose row was never committed
 * because of a crash.
 * @returns the number of removed blobs
 */
function sweepBlobs(store: Store, blobs: Blobs): Promise<number> {
  return blobs.sweep(async (names) => {
    const rows = await store.readSystem(referencedBlobs, { names: JSON.stringify(names) });
    return new Set(rows.map(({ sha256 }) => sha256));
  });
}

/**
 * Pause as a multiple of the duration of a step. `restMs` bounds the pause, because a step on a slow disk has
 * already waited for other work.
 */
const pauseFactor = 3;
const restMs = { least: 5, most: 50 };

/**
 * Pauses for longer than a step takes, so that removal keeps up with any write rate without delaying other work.
 * @param tookMs duration of the previous step
 */
async function rest(tookMs: number): Promise<void> {
  const ms = Math.min(Math.max(tookMs * pauseFactor, restMs.least), restMs.most);
  await new Promise((resolve) => setTimeout(resolve, ms));
}

interface Sweeping {
  readonly store: Store;
  readonly retention: RetentionSettings;
  readonly nowMs: () => number;
  readonly isStopped: () => boolean;
}

/** Removes expired rows step by step until none is left. @returns the number of removed rows */
async function runSweep(on: Sweeping, sweep: Sweep): Promise<number> {
  const days = sweep.days === null ? 0 : on.retention[sweep.days];
  if (days === null) return 0;
  const before = on.nowMs() - days * dayMs;
  const { byId } = sweep;
  if (!byId) return exhaust(on, sweep, { before, limit: sweep.rows }, null);
  const until = firstIdOf(byId.prefix, before);
  let removed = 0;
  for (let after = ''; ;) {
    const [next] = await on.store.readSystem(byId.next, { after, until, before });
    if (!next || on.isStopped()) return removed;
    after = next.workspace_id;
    removed += await exhaust(on, sweep, { before, until, limit: sweep.rows }, scopeOf(after));
  }
}

async function exhaust(
  { store, isStopped }: Sweeping,
  { notes, removals }: Sweep,
  params: Readonly<Record<string, Value>>,
  scope: Scope | null,
): Promise<number> {
  const ops = [...notes, ...removals].map((statement): Op => {
    const own: Params = Object.fromEntries(
      Object.entries(params).filter(([name]) => statement.params.includes(name)),
    );
    return scope ? tenantOp(scope, statement, own) : systemOp(statement, own);
  });
  let removed = 0;
  while (!isStopped()) {
    const startedMs = performance.now();
    const outcome = await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
    if (!outcome.ok) throw new Error(`Housekeeping could not remove rows: ${outcome.message}`);
    const step = outcome.rows.slice(notes.length).reduce((sum, rows) => sum + rows.length, 0);
    if (step === 0) break;
    removed += step;
    await rest(performance.now() - startedMs);
  }
  return removed;
}

const workspaces = systemStatement<{ workspace_id: string }>(
  'housekeeping.workspaces',
  'old events of all workspaces are archived alike',
  'SELECT workspace_id FROM workspaces',
);

/** Moves payloads of old events to archive files. @returns the number of moved events */
async function archiveOld(
  { store, nowMs, isStopped }: { store: Store; nowMs: () => number; isStopped: () => boolean },
  before: number,
): Promise<number> {
  let moved = 0;
  for (const { workspace_id: id } of await store.readSystem(workspaces))
    for (let step = 1; step > 0 && !isStopped(); moved += step) {
      const startedMs = performance.now();
      step = await archiveEvents(store, scopeOf(id), { before, nowMs: nowMs() });
      if (step > 0) await rest(performance.now() - startedMs);
    }
  return moved;
}

/** Shares of free pages in the file: returning starts above `begin` and stops at `end`. */
const freeShare = { begin: 0.05, end: 0.02 };
/** Fewer free pages than this are not returned. */
const freePagesMin = 256;
/** Pages per step; each freed page costs a read and a write. */
const stepPages = 128;

/**
 * Returns free pages to the disk if there are many. Some remain for the next writes, which would otherwise allocate them
 * again.
 * @returns the number of freed pages
 */
async function giveSpaceBack(store: Store, isStopped: () => boolean): Promise<number> {
  const first = await store.reclaim(0);
  if (!first || first.free < Math.max(freePagesMin, first.pages * freeShare.begin)) return 0;
  let space = first;
  while (!isStopped() && space.free > space.pages * freeShare.end) {
    const startedMs = performance.now();
    const next = await store.reclaim(stepPages);
    // A file without incremental auto-vacuum cannot free any pages.
    if (!next || next.pages === space.pages) break;
    space = next;
    await rest(performance.now() - startedMs);
  }
  return first.pages - space.pages;
}

/** File name pattern of `migrate`, such as `schema-7-2026-11-20T120000.000Z.db`. */
const name = /^schema-\d+-(\d{4}-\d{2}-\d{2}T)(\d{2})(\d{2})(\d{2}\.\d{3}Z)\.db$/;

/** Removes expired snapshots of earlier migrations, but never the newest. @returns the names of removed snapshots */
function removeSnapshots(folder: string, before: number): string[] {
  const timed = readFolder(folder)
    .flatMap((file) => {
      const [, day, hours, minutes, seconds] = name.exec(file) ?? [];
      return day === undefined ? [] : [{ file, atMs: Date.parse(`${day}${hours}:${minutes}:${seconds}`) }];
    })
    .sort((a, b) => b.atMs - a.atMs);
  const old = timed.slice(1).filter(({ atMs }) => atMs <= before);
  for (const { file } of old) rmSync(join(folder, file), { force: true });
  return old.map(({ file }) => file);
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

export function createHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { store, clock, log, retention, blobs, snapshots } = options;
  let cancel: (() => void) | null = null;
  let stopped = false;
  let sweeping: Promise<void> = Promise.resolve();
  const isStopped = (): boolean => stopped;
  const failed = (error: unknown): void => log('warn', 'housekeeping failed', { error: errorForLog(error) });
  /** Logs a failure, so that the other parts still run. A store fault is rethrown, because it affects every part. */
  const apart = (error: unknown): void => {
    if (error instanceof StoreError) throw error;
    failed(error);
  };

  const pass = async (): Promise<void> => {
    const removed: Record<string, number> = {};
    for (const sweep of sweeps) {
      const rows = await runSweep({ store, retention, nowMs: clock.nowMs, isStopped }, sweep).catch(apart);
      if (rows) removed[sweep.table] = rows;
    }
    const old =
      retention.snapshots === null
        ? []
        : removeSnapshots(snapshots, clock.nowMs() - retention.snapshots * dayMs);
    const events = (await archive().catch(apart)) ?? 0;
    const files = (await sweepBlobs(store, blobs).catch(apart)) ?? 0;
    const pages = await giveSpaceBack(store, isStopped);
    if (Object.keys(removed).length + old.length + events + files + pages > 0)
      log('info', 'housekeeping removed expired data', {
        rows: removed,
        snapshots: old,
        archivedEvents: events,
        files,
        pages,
      });
  };

  const archive = async (): Promise<number> =>
    retention.events === null
      ? 0
      : archiveOld({ store, nowMs: clock.nowMs, isStopped }, clock.nowMs() - retention.events * dayMs);

  const schedule = (afterMs: number): void => {
    cancel = clock.after(afterMs, () => {
      sweeping = pass()
        .catch(failed)
        .finally(() => {
          if (!stopped) schedule(everyMs);
        });
    });
  };

  return {
    start: () => schedule(firstAfterMs),
    sweep: pass,
    async stop() {
      stopped = true;
      cancel?.();
      await sweeping;
    },
  };
}
