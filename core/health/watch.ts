// Looks after what nobody reports by himself: whether the store takes writes, the disk has room, consumers get on and plugins run.
import { existsSync } from 'node:fs';
import type { Progress } from '../events/progress.ts';
import type { Clock } from '../lib/clock.ts';
import { errorForLog } from '../lib/failures.ts';
import type { Log } from '../lib/log.ts';
import type { ProblemKind, Problems } from '../lib/problems.ts';
import { systemStatement } from '../store/statement.ts';
import { systemOp, type Store } from '../store/store.ts';
import { roomOf, shortage } from './disk.ts';

const lookMs = 30_000;
/** A consumer that has not got on for so long, while there is something to do, is stuck. */
const stalledMs = 300_000;

const touch = systemStatement(
  'installation.touch',
  'a write that changes nothing, to find out whether the database takes writes again',
  'UPDATE installation SET name = name',
);

export interface HealthWatch {
  /** Raises and clears what it finds now. */
  look(): void;
  start(): void;
  stop(): void;
}

interface WatchOptions {
  readonly store: Pick<Store, 'status' | 'commit'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly problems: Problems;
  readonly dataDir: string;
  /** Megabytes; 0 does not look. */
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
    // Whoever found it out first knows more of it.
    if (writable) problems.clear('read_only');
    else if (!explaining.some(isRaised)) problems.raise('read_only', refusal(reason));
    say('disk', shortageOf(options, isRaised('disk')));
    say('consumer', stalled(options.progress()));
    say('plugins', options.sandboxState() === 'down' ? noSandbox : null);
  };

  /** Where nobody writes, nobody finds out that the database takes writes again. */
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
          log('error', 'health could not be looked at', { error: errorForLog(error) });
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

/** Each of these is a reason why the database takes no writes. */
const explaining: readonly ProblemKind[] = ['read_only', 'damage', 'files_moved'];

const noSandbox = 'The sandbox of plugins does not start: no plugin runs. The log says why.';

function refusal(reason: string | null): string {
  return `The database takes no writes: ${(reason ?? 'nobody knows why').replace(/\.$/, '')}. What is stored can be read. It is tried again every ${lookMs / 1000} s.`;
}

function shortageOf({ dataDir, diskReserveMb }: WatchOptions, wasShort: boolean): string | null {
  // A directory that was moved away is told elsewhere.
  if (diskReserveMb === 0 || !existsSync(dataDir)) return null;
  return shortage(roomOf(dataDir), diskReserveMb, wasShort);
}

function stalled(consumers: readonly Progress[]): string | null {
  const stuck = consumers.filter((consumer) => consumer.stalledMs >= stalledMs);
  if (stuck.length === 0) return null;
  const names = stuck.map(({ consumer, behind }) => `${consumer} (${behind} events behind)`).join(', ');
  return `Work of events does not get on: ${names}. The log says why.`;
}
