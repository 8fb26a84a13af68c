// Scheduled backups of a running server, made by a separate low-priority process. The next due time follows
// from the existing backups, so a backup that was missed while the server was down is made after the start.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../lib/time/clock.ts';
import { nextRunMs } from '../lib/time/cron.ts';
import { errorForLog, type Problems } from '../lib/errors/failures.ts';
import type { Log } from '../lib/log.ts';
import { ownProgram } from '../lib/process/own-program.ts';
import { createKnownFolder, EmptiedFolder } from './copy/inspect.ts';
import { listBackups } from './folder.ts';
import { hourMs } from '../lib/time/time.ts';

/** Delay of the first check, so that a backup does not slow down the start. */
const firstLookMs = 10_000;
const lookEveryMs = 30_000;
/** Delay before a failed backup is retried. */
const againMs = hourMs;

export interface BackupSchedule {
  start(): void;
  /** Aborts a backup in progress. */
  stop(): Promise<void>;
}

export interface ScheduleOptions {
  readonly dataDir: string;
  readonly folder: string;
  readonly cron: string;
  readonly retentionRule: string;
  /** Name of the installation; others may use the same folder. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly problems: Problems;
}

interface Last {
  readonly atMs: number;
  readonly path: string;
}

export function createBackupSchedule(options: ScheduleOptions): BackupSchedule {
  const { clock, log, problems, cron } = options;
  const known = createKnownFolder(join(options.dataDir, 'backed-up-to'), options.folder);
  let last: Last | null = null;
  let notBeforeMs = 0;
  let cancel = (): void => undefined;
  let looking: Promise<void> = Promise.resolve();
  let child: Child | null = null;
  let isStopped = false;

  const make = async (nowMs: number): Promise<void> => {
    child = startChild(options);
    const ended = await child.ended;
    child = null;
    if (isStopped) return;
    if ('problem' in ended) {
      notBeforeMs = nowMs + againMs;
      problems.raise('backup', `The last backup failed: ${ended.problem}`);
      log('error', 'a backup failed', { problem: ended.problem });
      return;
    }
    last = { atMs: nowMs, path: ended.path };
    problems.clear('backup');
    log('info', 'a backup was made', { path: ended.path });
  };

  const look = async (): Promise<void> => {
    const nowMs = clock.nowMs();
    // While the problem persists, a manual backup may have solved it.
    if (!last || isRaised(problems) || !existsSync(last.path)) last = await newest(options);
    // If the clock was set back, the last backup counts as made now, so that the schedule does not wait for the clock to catch up.
    if (last && last.atMs > nowMs) last = { ...last, atMs: nowMs };
    notBeforeMs = Math.min(notBeforeMs, nowMs + againMs);
    if (last) known.remember();
    else await known.check();
    if (isDue(cron, last, nowMs) && nowMs >= notBeforeMs) await make(nowMs);
    if (last && isLate(cron, last, clock.nowMs())) problems.raise('backup', tooLongAgo(last));
    else if (!isDue(cron, last, clock.nowMs())) problems.clear('backup');
  };

  const lookAfter = (delayMs: number): void => {
    cancel = clock.after(delayMs, () => {
      looking = look()
        .catch((error: unknown) => {
          problems.raise('backup', reasonOf(error, options));
          log('error', 'backups could not be checked', { error: errorForLog(error) });
        })
        .finally(() => {
          if (!isStopped) lookAfter(lookEveryMs);
        });
    });
  };

  return {
    start: () => lookAfter(firstLookMs),
    async stop() {
      isStopped = true;
      cancel();
      child?.kill();
      await looking;
    },
  };
}

function reasonOf(error: unknown, { folder }: ScheduleOptions): string {
  if (error instanceof EmptiedFolder) return error.message;
  return `Backups cannot be made in ${folder}. See the log for the reason.`;
}

const tooLongAgo = ({ atMs }: Last): string =>
  `The last backup is from ${new Date(atMs).toISOString()}, and a newer one is overdue. Check the log for failed backups.`;

const isRaised = (problems: Problems): boolean => problems.list().some(({ kind }) => kind === 'backup');

const isDue = (cron: string, last: Last | null, nowMs: number): boolean =>
  !last || (nextRunMs(cron, 'UTC', last.atMs) ?? Infinity) <= nowMs;

/** A backup is late after twice the interval, and no earlier than one hour after its due time. */
function isLate(cron: string, { atMs }: Last, nowMs: number): boolean {
  const due = nextRunMs(cron, 'UTC', atMs);
  const after = due === null ? null : nextRunMs(cron, 'UTC', due);
  if (due === null || after === null) return false;
  return nowMs > Math.max(after, due + hourMs);
}

async function newest({ folder, name }: ScheduleOptions): Promise<Last | null> {
  if (!existsSync(folder)) return null;
  const own = (await listBackups(folder)).find(({ manifest }) => manifest?.name === name);
  return own?.manifest ? { atMs: Date.parse(own.manifest.createdAt), path: own.path } : null;
}

interface Child {
  readonly ended: Promise<{ path: string } | { problem: string }>;
  kill(): void;
}

function startChild({ dataDir, folder, retentionRule }: ScheduleOptions): Child {
  const args = ['backup', folder, '--data-dir', dataDir, '--keep', retentionRule, '--background', '--json'];
  const child = Bun.spawn(ownProgram(args, '/'), { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' });
  const said = async (): Promise<{ path: string } | { problem: string }> => {
    const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    try {
      const answer = JSON.parse(text) as { path?: string; error?: { message: string } };
      if (answer.path !== undefined) return { path: answer.path };
      return {
        problem:
          answer.error?.message ??
          `the process ended with code ${code}. Run \`tatami backup\` to see the reason.`,
      };
    } catch {
      return {
        problem: `the process ended with ${child.signalCode ?? code}. Run \`tatami backup\` to see the reason.`,
      };
    }
  };
  return { ended: said(), kill: () => child.kill() };
}
