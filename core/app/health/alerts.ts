// Notifies every workspace when a server problem that concerns its members starts or ends. Problems shorter than a minute are not reported;
// while the database cannot be written, notifications are delayed.
import { systemAuthor } from '../../kernel/changes/commit.ts';
import {
  problemChanges,
  reportedKinds,
  type ReportedKind,
  type ReportedProblem,
} from '../../features/inbox/index.ts';
import type { WorkerDeps } from '../../kernel/feature.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { backgroundCommitDelayMs, scopeOf, systemOp, type Store } from '../../platform/store/store.ts';

/** Time for which a problem, or its end, must last before it is reported. */
const settledMs = 60_000;
/** Retry delay after a failure. */
const againMs = 60_000;
const pageWorkspaces = 100;

const readReported = systemStatement<{ reported_problems: string }>(
  'installation.reported_problems',
  'reported problems are recorded once per installation',
  'SELECT reported_problems FROM installation',
);
const writeReported = systemStatement(
  'installation.set_reported_problems',
  'reported problems are recorded once per installation',
  'UPDATE installation SET reported_problems = :reported',
);
const nextWorkspaces = systemStatement<{ id: string }>(
  'alerts.workspaces',
  'a problem of the installation is reported to all workspaces, page by page',
  `SELECT id FROM workspaces WHERE id > :after ORDER BY id LIMIT ${pageWorkspaces}`,
);

async function reportedBefore(store: Store): Promise<[ReportedKind, number][]> {
  const [row] = await store.readSystem(readReported);
  return JSON.parse(row?.reported_problems ?? '[]') as [ReportedKind, number][];
}

export function createAlerts(deps: WorkerDeps) {
  const { store, log, problems } = deps.services;
  /** Start time of each reported problem that has not ended; includes queued ones. */
  const reported = new Map<ReportedKind, number>();
  const queue: ReportedProblem[] = [];
  const timers = new Map<ReportedKind | 'again', () => void>();
  let stopped = false;
  let notifying: Promise<void> | null = null;

  const after = (key: ReportedKind | 'again', delayMs: number, run: () => void): void => {
    if (stopped || timers.has(key)) return;
    const cancel = deps.clock.after(delayMs, () => {
      timers.delete(key);
      run();
    });
    timers.set(key, cancel);
  };

  const notifyQueue = async (): Promise<void> => {
    for (let problem = queue[0]; problem && !stopped; problem = queue[0]) {
      if (!(await notifyAll(deps, problem, () => stopped))) return;
      // The state is written after the notifications: a duplicate after a crash is better than a lost
      // notification.
      if (queue.length === 1)
        await store.commit([systemOp(writeReported, { reported: JSON.stringify([...reported]) })]);
      queue.shift();
    }
  };

  const notify = (): void => {
    // An unwritable database cannot store notifications; log and readiness report the reason.
    if (!store.status().writable) return after('again', againMs, notify);
    notifying ??= notifyQueue()
      .catch((error: unknown) => {
        log('warn', 'workspaces could not be notified of a problem', { error: errorForLog(error) });
        after('again', againMs, notify);
      })
      .finally(() => (notifying = null));
  };

  const consider = (kind: ReportedKind): void => {
    const now = problems.list().find((problem) => problem.kind === kind);
    const sinceMs = reported.get(kind);
    if (now && sinceMs === undefined) {
      reported.set(kind, now.sinceMs);
      queue.push({ kind, sinceMs: now.sinceMs, untilMs: null });
    } else if (!now && sinceMs !== undefined) {
      reported.delete(kind);
      queue.push({ kind, sinceMs, untilMs: deps.clock.nowMs() });
    } else return;
    notify();
  };

  problems.onChange((changed) => {
    const kind = reportedKinds.find((one) => one === changed);
    if (kind) after(kind, settledMs, () => consider(kind));
  });

  return {
    async start() {
      for (const [kind, sinceMs] of await reportedBefore(store)) reported.set(kind, sinceMs);
      for (const kind of reportedKinds) after(kind, settledMs, () => consider(kind));
    },
    async stop() {
      stopped = true;
      for (const cancel of timers.values()) cancel();
      await notifying;
    },
  };
}

/**
 * Commits one workspace after the other with a background delay, so that other work continues.
 * @returns false if stopped before the last workspace
 */
async function notifyAll(
  { services: { store, ids }, committer, clock, directoryOf }: WorkerDeps,
  problem: ReportedProblem,
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
