// Tells every workspace of what is wrong with the server, where it concerns its people, and when it is over. What comes and goes within a
// minute is not told; what cannot be written is told once it can.
import { systemAuthor, type Committer } from '../changes/commit.ts';
import type { Directory } from '../context.ts';
import { problemChanges, toldKinds, type ToldKind, type ToldProblem } from '../inbox/problem.ts';
import type { Clock } from '../lib/clock.ts';
import { errorForLog } from '../lib/failures.ts';
import type { Ids } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Problems } from '../lib/problems.ts';
import { systemStatement } from '../store/statement.ts';
import { backgroundCommitDelayMs, scopeOf, systemOp, type Scope, type Store } from '../store/store.ts';

/** A problem is told when it has been there for so long, and so is its end. */
const settledMs = 60_000;
/** After a failure. */
const againMs = 60_000;
const pageWorkspaces = 100;

const readTold = systemStatement<{ told_problems: string }>(
  'installation.told_problems',
  'what all workspaces were told of the installation',
  'SELECT told_problems FROM installation',
);
const writeTold = systemStatement(
  'installation.set_told_problems',
  'what all workspaces were told of the installation',
  'UPDATE installation SET told_problems = :told',
);
const nextWorkspaces = systemStatement<{ id: string }>(
  'alerts.workspaces',
  'a problem of the installation is told to all workspaces, a few at a time',
  `SELECT id FROM workspaces WHERE id > :after ORDER BY id LIMIT ${pageWorkspaces}`,
);

export interface Alerts {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface AlertsOptions {
  readonly store: Store;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly problems: Problems;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}

async function toldBefore(store: Store): Promise<[ToldKind, number][]> {
  const [row] = await store.readSystem(readTold);
  return JSON.parse(row?.told_problems ?? '[]') as [ToldKind, number][];
}

export function createAlerts(options: AlertsOptions): Alerts {
  const { store, clock, problems } = options;
  /** Since when, of what was told and is not over yet; what waits in the queue counts as told. */
  const told = new Map<ToldKind, number>();
  const queue: ToldProblem[] = [];
  const timers = new Map<ToldKind | 'again', () => void>();
  let stopped = false;
  let telling: Promise<void> | null = null;

  const after = (key: ToldKind | 'again', delayMs: number, run: () => void): void => {
    if (stopped || timers.has(key)) return;
    const cancel = clock.after(delayMs, () => {
      timers.delete(key);
      run();
    });
    timers.set(key, cancel);
  };

  const tellQueue = async (): Promise<void> => {
    for (let problem = queue[0]; problem && !stopped; problem = queue[0]) {
      if (!(await tellAll(options, problem, () => stopped))) return;
      // What is told again after a crash is better than what is never told.
      if (queue.length === 1) await store.commit([systemOp(writeTold, { told: JSON.stringify([...told]) })]);
      queue.shift();
    }
  };

  const tell = (): void => {
    // A database that takes no writes can be told nothing; the log and readiness say why.
    if (!store.status().writable) return after('again', againMs, tell);
    telling ??= tellQueue()
      .catch((error: unknown) => {
        options.log('warn', 'workspaces were not told of a problem', { error: errorForLog(error) });
        after('again', againMs, tell);
      })
      .finally(() => (telling = null));
  };

  const consider = (kind: ToldKind): void => {
    const now = problems.list().find((problem) => problem.kind === kind);
    const sinceMs = told.get(kind);
    if (now && sinceMs === undefined) {
      told.set(kind, now.sinceMs);
      queue.push({ kind, sinceMs: now.sinceMs, untilMs: null });
    } else if (!now && sinceMs !== undefined) {
      told.delete(kind);
      queue.push({ kind, sinceMs, untilMs: clock.nowMs() });
    } else return;
    tell();
  };

  problems.onChange((changed) => {
    const kind = toldKinds.find((one) => one === changed);
    if (kind) after(kind, settledMs, () => consider(kind));
  });

  return {
    async start() {
      for (const [kind, sinceMs] of await toldBefore(store)) told.set(kind, sinceMs);
      for (const kind of toldKinds) after(kind, settledMs, () => consider(kind));
    },
    async stop() {
      stopped = true;
      for (const cancel of timers.values()) cancel();
      await telling;
    },
  };
}

/**
 * One commit after the other, each of which waits a little for others: the rest of the service goes on.
 * @returns false where it was stopped before the last
 */
async function tellAll(
  { store, committer, ids, clock, directoryOf }: AlertsOptions,
  problem: ToldProblem,
  isStopped: () => boolean,
): Promise<boolean> {
  for (let after = '', isLast = false; !isLast;) {
    const page = await store.readSystem(nextWorkspaces, { after });
    isLast = page.length < pageWorkspaces;
    for (const { id } of page) {
      if (isStopped()) return false;
      const directory = await directoryOf(scopeOf(id));
      const author = systemAuthor(scopeOf(id), 'system', directory);
      const changes = problemChanges(problem, { ids, nowMs: clock.nowMs(), directory });
      await committer.commit(author, changes, [], [], { commitDelayMs: backgroundCommitDelayMs });
      after = id;
    }
  }
  return true;
}
