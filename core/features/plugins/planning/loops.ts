// Detects loops of plugins that trigger each other, before the next run starts. docs/spec/plugins.md › Loops.
import { sameValue, type Change } from '../../../kernel/changes/change.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { findEvent } from '../../../kernel/events/log/log.ts';
import { tenantStatement, type SqlRow } from '../../../platform/store/statement.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import { depthMax, runsPerRootMax, sameInPathMax } from './limits.ts';
import { findRun, runsOfRoot } from '../runs/rows.ts';
import { systemAuthor } from '../../../kernel/changes/commit.ts';
import { adminsOf, newItem, type InboxItemInput, inboxItemModel } from '../../inbox/index.ts';
import { hourMs } from '../../../platform/lib/time/time.ts';
import type { PluginDeps } from '../deps.ts';
import { plugin } from '../installs/contract.ts';

interface Cut {
  readonly code: 'loop_depth' | 'loop_path' | 'loop_fields' | 'loop_runs';
  readonly message: string;
  /** Names of the plugins in the loop, by install id. */
  readonly plugins: ReadonlyMap<string, string>;
}

const namesOfInstalls = tenantStatement<{ id: string; name: string }>(
  'plugins.names',
  `SELECT id, coalesce(manifest_json->>'name', plugin_id) AS name FROM plugins
   WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))
   UNION ALL SELECT id, name FROM automations WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))`,
);

interface HandledObject {
  readonly subjectId: string | null;
  readonly entityId: string;
}

/** Fields of an event that loop detection needs. A one-time job, which has no event, provides only these. */
interface Step extends HandledObject {
  readonly cause: EventRow['cause'];
}

/**
 * Returns why an install gets no run for this event; null if it gets one.
 * @param planned returns the number of runs of the same root that are not stored yet
 */
export async function findCut(
  store: Store,
  scope: Scope,
  event: Step | EventRow,
  installId: string,
  planned: () => number,
): Promise<Cut | null> {
  const { depth, path, rootEventId } = event.cause;
  const cut = async (code: Cut['code'], say: (chain: string, both: string) => string): Promise<Cut> => {
    const plugins = await namesIn(store, scope, [...path.map(installOf), installId]);
    const chain = path.map((step) => plugins.get(installOf(step)));
    return { code, message: say(chain.join(' → '), [...plugins.values()].join(' and ')), plugins };
  };
  if (depth > depthMax)
    return cut(
      'loop_depth',
      (chain) =>
        `Plugins triggered each other ${depth} times in a row: ${chain}. Make one of them ignore events of plugins.`,
    );
  const step = stepOf(installId, event);
  if (path.filter((earlier) => earlier === step).length >= sameInPathMax)
    return cut(
      'loop_path',
      (chain) =>
        `This plugin handled the same object ${sameInPathMax} times in one chain: ${chain}. Make it ignore its own events.`,
    );
  const fields = 'data' in event ? await fieldsBackAndForth(store, scope, event, step) : [];
  if (fields.length > 0)
    return cut(
      'loop_fields',
      (_, both) =>
        `${both} set ${fields.join(', ')} back and forth on the same object. Let only one of them set the fields.`,
    );
  if (depth === 0 || rootEventId === null) return null;
  if ((await runsOfRoot(store, scope, rootEventId)) + planned() < runsPerRootMax) return null;
  return cut(
    'loop_runs',
    (_, both) =>
      `${runsPerRootMax} runs of ${both} followed from the event ${rootEventId}. Narrow their subscriptions with filters.`,
  );
}

/** Returns the key of one step of a causation chain: the install and the object that it handled. */
export function stepOf(installId: string, event: HandledObject): string {
  return `${installId}:${event.subjectId ?? event.entityId}`;
}

const installOf = (step: string): string => step.split(':', 1)[0]!;

async function namesIn(store: Store, scope: Scope, ids: readonly string[]): Promise<Map<string, string>> {
  const unique = [...new Set(ids)];
  const rows = await store.read(scope, namesOfInstalls, { ids: JSON.stringify(unique) });
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return new Map(unique.map((id) => [id, names.get(id) ?? id]));
}

/**
 * Returns the fields that another plugin has just reset to their values before a change by this plugin. Only
 * chains A → B → A on one object are checked, so that other events require no read.
 */
async function fieldsBackAndForth(
  store: Store,
  scope: Scope,
  { cause, data }: EventRow,
  step: string,
): Promise<string[]> {
  const [first, own, last] = cause.path.slice(-3);
  if (own !== step || first !== last || first === step || cause.parentRunId === null) return [];
  const run = await findRun(store, scope, cause.parentRunId);
  const answered = run?.event_id ? await findEvent(store, scope, run.event_id) : undefined;
  if (!answered) return [];
  const [before, earlier] = [previousOf(data), previousOf(answered.data)];
  return Object.keys(before).filter(
    (field) =>
      field in earlier &&
      sameValue(data[field], earlier[field]) &&
      sameValue(answered.data[field], before[field]),
  );
}

function previousOf(data: EventRow['data']): Readonly<Record<string, unknown>> {
  return (data.previous ?? {}) as Readonly<Record<string, unknown>>;
}

const openLike = tenantStatement<SqlRow>(
  'inbox_items.open_loop',
  `SELECT ${inboxItemModel.select} FROM inbox_items INDEXED BY inbox_items_newest WHERE workspace_id = :ws AND member_id = :memberId
     AND happened_at > :since AND kind = 'plugin_loop' AND title = :title AND created_at > :since AND archived_at IS NULL
     ORDER BY happened_at DESC LIMIT 1`,
);

export type NotifyLoop = (scope: Scope, event: EventRow, cut: Cut) => Promise<void>;

/**
 * Notifies admins and owners of a loop that was cut: one counted inbox item per set of plugins and
 * hour.
 */
export function createNotifyLoop(deps: PluginDeps): NotifyLoop {
  const { clock, committer } = deps;
  const { store, ids } = deps.services;

  const itemOf = async (scope: Scope, input: InboxItemInput): Promise<Change | null> => {
    const now = clock.nowMs();
    const params = { memberId: input.memberId, title: input.title, since: now - hourMs };
    const row = await store.readOne(scope, openLike, params);
    if (!row) return newItem(input, { ids, nowMs: now });
    const like = inboxItemModel.fromRow(row);
    return inboxItemModel.update(
      like,
      { ...input, count: like.count + 1, happenedAt: now, readAt: null },
      now,
    );
  };

  return async (scope, event, cut) => {
    const directory = await deps.directoryOf(scope);
    const about = aboutOf(event, cut);
    const changes: Change[] = [];
    for (const memberId of adminsOf(directory)) {
      const change = await itemOf(scope, { ...about, memberId });
      if (change) changes.push(change);
    }
    // The author has the cause of the cut event, so that the run of a plugin that reacts to this item is cut
    // as well.
    const author = { ...systemAuthor(scope, 'plugins', directory), cause: event.cause };
    await committer.commit(author, changes);
  };
}

function aboutOf(event: EventRow, { plugins, message }: Cut): Omit<InboxItemInput, 'memberId'> {
  const issue = issueOf(event);
  const [id] = [...plugins.keys()].sort();
  const names = [...plugins.values()].sort().join(' and ');
  return {
    kind: 'plugin_loop',
    reason: 'plugin',
    title:
      plugins.size === 1
        ? `The plugin ${names} caused its own events`
        : `The plugins ${names} caused each other's events`,
    body: `${message}${issue?.identifier ? ` The issue was ${issue.identifier}.` : ''} The last run was not started. Check the runs of these plugins.`,
    target: { kind: plugin.name, id: id! },
    issueId: issue?.id ?? null,
    issue,
    actorKind: null,
    actorId: null,
    actorName: null,
  };
}

/** Returns the issue of an event, or the issue that its data names; null if there is none. */
function issueOf({ entityType, entityId, data }: EventRow): InboxItemInput['issue'] {
  const { identifier, issue } = data as {
    identifier?: string | null;
    issue?: { id: string; identifier: string | null } | null;
  };
  if (entityType === 'issue') return { id: entityId, identifier: identifier ?? null };
  return issue?.id ? { id: issue.id, identifier: issue.identifier } : null;
}
