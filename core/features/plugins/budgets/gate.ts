// Defers the runs of an install whose budget is exhausted, and notifies the admins once a day.
import { systemAuthor } from '../../../kernel/changes/commit.ts';
import { itemsForAdmins } from '../../inbox/index.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Scope } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import { installModel, type Install } from '../installs/schema.ts';
import { hostBudget } from '../installs/contract.ts';
import { words } from './budget.ts';
import type { BegunRun, Spent } from './usage.ts';

const markNotified = tenantStatement(
  'plugin_usage.tell',
  `INSERT INTO plugin_usage (workspace_id, install_id, day, runs, cpu_ms, calls, egress_bytes, told)
   VALUES (:ws, :installId, :day, 0, 0, 0, 0, 1)
   ON CONFLICT (workspace_id, install_id, day) DO UPDATE SET told = 1 WHERE told = 0`,
);

/** Result of the budget check before a run starts. */
interface Passage extends BegunRun {
  /** The exhausted budget that defers the run; null if the run can start. */
  readonly deferredBy: Spent | null;
}

export type Gate = (scope: Scope, install: Install) => Promise<Passage>;

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
