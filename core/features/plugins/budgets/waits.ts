// Defers the runs of an install whose budget is exhausted, notifies the admins once a day, and wakes the
// runs as soon as the budget has capacity again. docs/spec/plugins.md › Budgets.
import { systemAuthor } from '../../../kernel/changes/commit.ts';
import { itemsForAdmins } from '../../inbox/index.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Scope, backgroundCommitDelayMs, scopeOf } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import { installModel, type Install } from '../installs/model.ts';
import { hostBudget } from '../installs/contract.ts';
import { words, dayOf, spentWords, startOfDay } from './budget.ts';
import type { BegunRun, Spent, Usage } from './usage.ts';
import { installsWaiting, wakeOps, wokenAtOnce } from '../runs/state.ts';
import type { Context } from '../../../kernel/context.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import { ApiError, retryAfterOf } from '../../../platform/lib/errors/errors.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';

const markNotified = tenantStatement(
  'plugin_usage.mark_notified',
  `INSERT INTO plugin_usage (workspace_id, install_id, day, runs, cpu_ms, calls, egress_bytes, notified)
   VALUES (:ws, :installId, :day, 0, 0, 0, 0, 1)
   ON CONFLICT (workspace_id, install_id, day) DO UPDATE SET notified = 1 WHERE notified = 0`,
);

/** Result of the budget check before a run starts. */
interface Passage extends BegunRun {
  /** The exhausted budget that defers the run; null if the run can start. */
  readonly deferredBy: Spent | null;
}

type Gate = (scope: Scope, install: Install) => Promise<Passage>;

export function createGate(deps: PluginDeps): Gate {
  const { usage } = deps;
  /** Day of the last notification by install. Entries of earlier days are dropped. */
  const notifiedDays = new Map<string, number>();
  return async (scope, install) => {
    const begun = await usage.begin(scope, install);
    const { spent } = begun;
    if (!spent) return { ...begun, deferredBy: null };
    if (notifiedDays.get(install.id) !== spent.day) {
      for (const [id, day] of notifiedDays) if (day !== spent.day) notifiedDays.delete(id);
      notifiedDays.set(install.id, spent.day);
      await notifyAdmins(deps, scope, install, spent);
    }
    return { ...begun, deferredBy: install.budget.whenSpent === 'propose' ? null : spent };
  };
}

async function notifyAdmins(
  { clock, committer, directoryOf, services: { ids } }: PluginDeps,
  scope: Scope,
  install: Install,
  { quantity, day, untilMs }: Spent,
): Promise<void> {
  const { id, manifest, pluginId, budget } = install;
  const nowMs = clock.nowMs();
  const directory = await directoryOf(scope);
  const until = new Date(untilMs).toISOString();
  const what = budget.whenSpent === 'propose' ? 'Its runs become proposals' : 'Its runs wait';
  const items = itemsForAdmins(
    {
      kind: 'plugin_budget',
      reason: 'plugin',
      title: `The plugin ${manifest.name ?? pluginId} has exhausted its daily budget`,
      body: `The plugin used ${budget[quantity] ?? hostBudget[quantity]} ${words[quantity]}. ${what} until ${until}, unless the budget is changed.`,
      target: { kind: installModel.name, id },
    },
    { ids, nowMs, directory },
  );
  // The guard prevents a second notification by another process, or by this one after a restart.
  const once = tenantOp(scope, markNotified, { installId: id, day }, { expectRows: 1 });
  await committer.commit(systemAuthor(scope, 'plugins', directory), items, [once], []);
}

/** Returns the exhausted budget that defers the runs of an install; null if there is none, or if runs become proposals instead. */
export async function deferringBudget(usage: Usage, scope: Scope, install: Install): Promise<Spent | null> {
  return install.budget.whenSpent === 'propose' ? null : usage.spent(scope, install);
}

/** Refuses a request that waits for a run while the budget is exhausted. @throws ApiError quota_exceeded */
export async function requireBudget(
  { scope, nowMs }: Context,
  install: Install,
  usage: Usage,
): Promise<void> {
  const spent = await deferringBudget(usage, scope, install);
  if (spent)
    throw new ApiError('quota_exceeded', spentWords(install, spent), {
      headers: retryAfterOf(secondsLeft(spent, nowMs())),
    });
}

/** Returns the seconds until the next day's budget. */
export function secondsLeft({ untilMs }: Spent, nowMs: number): number {
  return (untilMs - nowMs) / 1000;
}

export interface BudgetWaits {
  /** Wakes the waiting runs of an install if its budget has capacity. */
  look(scope: Scope, installId: string): void;
  /**
   * Wakes the waiting runs of all installs whose budget has capacity: an earlier process may have ended
   * before waking them.
   */
  start(): Promise<void>;
  settled(): Promise<void>;
}

export function createBudgetWaits(deps: PluginDeps, queue: () => WorkQueue): BudgetWaits {
  const { clock, registry, usage, isStopping } = deps;
  const { store, log } = deps.services;
  /** Checks in progress by install. */
  const looking = new Map<string, Promise<void>>();
  const nextDay = (): number => startOfDay(dayOf(clock.nowMs()) + 1);

  const wakePage = async (scope: Scope, installId: string): Promise<number> => {
    const ops = wakeOps(scope, installId, nextDay(), clock.nowMs());
    const outcome = await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
    const woken = outcome.ok ? (outcome.rows.at(-1)?.length ?? 0) : 0;
    if (woken > 0) queue().wake();
    return woken;
  };

  /** Wakes page by page, because the first runs may exhaust the budget again. */
  const wakeAll = async (scope: Scope, installId: string): Promise<void> => {
    for (let woken = wokenAtOnce; woken === wokenAtOnce && !isStopping();) {
      const install = await registry.active(scope, installId);
      if (!install || (await deferringBudget(usage, scope, install))) return;
      woken = await wakePage(scope, installId);
    }
  };

  const look = (scope: Scope, installId: string): void => {
    const before = looking.get(installId) ?? Promise.resolve();
    const now = before
      .then(() => wakeAll(scope, installId))
      .catch((error: unknown) =>
        log('warn', 'waking runs that wait for a budget failed', { error: errorForLog(error) }),
      )
      .then(() => void (looking.get(installId) === now && looking.delete(installId)));
    looking.set(installId, now);
  };

  return {
    look,
    async start() {
      for (const { workspace_id, subject } of await installsWaiting(store, nextDay()))
        look(scopeOf(workspace_id), subject);
    },
    async settled() {
      while (looking.size > 0) await Promise.all(looking.values());
    },
  };
}
