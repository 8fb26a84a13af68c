// Polls health: writability, disk space, consumer lag, sandbox.
import { statfsSync, statSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../../kernel/events/consumers/consumer-positions.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { errorForLog, type ProblemKind, type Problems } from '../../platform/lib/errors/failures.ts';
import type { Log } from '../../platform/lib/log.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { systemOp, type Store } from '../../platform/store/store.ts';

const lookMs = 30_000;
/** A consumer with pending work counts as stuck after this time without progress. */
const stalledMs = 300_000;

const touch = systemStatement(
  'installation.touch',
  'a write without effect, to detect that the database can be written again',
  'UPDATE installation SET name = name',
);

interface HealthWatch {
  /** Raises and clears problems by the current state. */
  look(): void;
  start(): void;
  stop(): void;
}

interface WatchOptions {
  readonly store: { readonly status: Store['status']; readonly commit: Store['commit'] };
  readonly clock: Clock;
  readonly log: Log;
  readonly problems: Problems;
  readonly dataDir: string;
  /** Minimum of free disk space in megabytes; 0 disables the check. */
  readonly diskReserveMb: number;
  sandboxState(): string;
  progress(): readonly Progress[];
}

export function createHealthWatch(options: WatchOptions): HealthWatch {
  const { store, clock, log, problems } = options;
  let cancel = (): void => undefined;

  const isRaised = (kind: ProblemKind): boolean => problems.list().some((problem) => problem.kind === kind);
  const say = (kind: ProblemKind, message: string | null): void => {
    if (message === null) problems.clear(kind);
    else problems.raise(kind, message);
  };

  const look = (): void => {
    const { writable, reason } = store.status();
    // A problem that explains the cause may be raised already, and its message is more precise.
    if (writable) problems.clear('read_only');
    else if (!explaining.some(isRaised)) problems.raise('read_only', refusal(reason));
    say('disk', shortageOf(options, isRaised('disk')));
    say('consumer', stalled(options.progress()));
    say('plugins', options.sandboxState() === 'down' ? noSandbox : null);
  };

  /**
   * Writes a row while the store is not writable. Without writes nothing detects that the database can be
   * written again.
   */
  const probe = async (): Promise<void> => {
    if (store.status().writable) return;
    await store.commit([systemOp(touch, {})]).catch(() => undefined);
  };

  const schedule = (): void => {
    cancel = clock.after(lookMs, () => {
      schedule();
      void probe()
        .then(look)
        .catch((error: unknown) => {
          log('error', 'health could not be checked', { error: errorForLog(error) });
        });
    });
  };

  return {
    look,
    start() {
      look();
      schedule();
    },
    stop: () => cancel(),
  };
}

/** Problems that explain why the database cannot be written. */
const explaining: readonly ProblemKind[] = ['read_only', 'damage', 'files_moved'];

const noSandbox = 'The plugin sandbox does not start, so no plugin runs. See the log for the reason.';

function refusal(reason: string | null): string {
  return `The database cannot be written: ${(reason ?? 'unknown reason').replace(/\.$/, '')}. Stored data can be read. Writing is retried every ${lookMs / 1000} s.`;
}

function shortageOf({ dataDir, diskReserveMb }: WatchOptions, wasShort: boolean): string | null {
  // The problem `files_moved` reports a missing directory.
  if (diskReserveMb === 0 || !existsSync(dataDir)) return null;
  return shortage(diskSpaceOf(dataDir), diskReserveMb, wasShort);
}

function stalled(consumers: readonly Progress[]): string | null {
  const stuck = consumers.filter((consumer) => consumer.stalledMs >= stalledMs);
  if (stuck.length === 0) return null;
  const names = stuck.map(({ consumer, behind }) => `${consumer} (${behind} events behind)`).join(', ');
  return `Event processing is stalled: ${names}. See the log for the reason.`;
}

const megabyte = 1024 * 1024;
/**
 * Hysteresis: a shortage ends only when free space exceeds the reserve by this factor, so that the state does
 * not change with each file.
 */
const enoughFactor = 1.1;

interface DiskSpace {
  /** Bytes available to this user. */
  readonly free: number;
  readonly total: number;
}

export function diskSpaceOf(dataDir: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(dataDir);
  return { free: bavail * bsize, total: blocks * bsize };
}

/** Returns the sizes of the database and its log in bytes; 0 for a missing file. */
export function databaseBytes(dataDir: string): { database: number; log: number } {
  const sizeOf = (name: string): number =>
    statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0;
  return { database: sizeOf('tatami.db'), log: sizeOf('tatami.db-wal') };
}

/**
 * Returns a message if the disk is nearly full, else null.
 * @param reserveMb minimum of free megabytes; on a small disk a tenth of its size, if that is less
 */
export function shortage({ free, total }: DiskSpace, reserveMb: number, wasShort: boolean): string | null {
  const reserve = Math.min(reserveMb * megabyte, total / 10) * (wasShort ? enoughFactor : 1);
  if (free >= reserve) return null;
  return `${inMegabytes(free)} of ${inMegabytes(total)} are free on the disk of the data directory. Free some space: writes are rejected once the disk is full.`;
}

function inMegabytes(bytes: number): string {
  return `${Math.floor(bytes / megabyte)} MB`;
}
