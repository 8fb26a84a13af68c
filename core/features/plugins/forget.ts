// Removes data about purged issues that plugins stored: recordings, texts of runs, changes stored for undo, responses of other servers, and
// reports. Rows are read a page at a time, so that requests are not blocked; each row is written once.
import { firstIdOf, idPrefixes, type Mentions, mentionsOf } from '../../platform/lib/ids.ts';
import { tenantStatement, type Statement } from '../../platform/store/statement.ts';
import {
  backgroundCommitDelayMs,
  tenantOp,
  type Op,
  type Scope,
  type Store,
} from '../../platform/store/store.ts';
import type { ShadowWork } from './shadows/work.ts';
import { withoutChanges } from './undo/stored-changes.ts';

interface Purged {
  readonly ids: ReadonlySet<string>;
  /** Creation time of the oldest purged issue in Unix milliseconds; no older row can mention one. */
  readonly sinceMs: number;
}

export type ForgetIssues = (scope: Scope, purged: Purged) => Promise<void>;

interface Forgetting {
  readonly store: Store;
  readonly scope: Scope;
  readonly purged: Purged;
  /** Ids of the events of the issues; a run caused by one of them is about the issue. */
  readonly events: ReadonlySet<string>;
  readonly isAbout: Mentions;
}

/** Pause between two pages in milliseconds, so that other work can run. */
const restMs = 2;

const eventsOf = tenantStatement<{ id: string }>(
  'events.of_purged',
  `SELECT id FROM events INDEXED BY events_issue WHERE workspace_id = :ws AND issue_id IN (SELECT value FROM json_each(:ids))`,
);

export function createForgetIssues(store: Store, shadows: ShadowWork): ForgetIssues {
  return async (scope, purged) => {
    const rows = await store.read(scope, eventsOf, { ids: JSON.stringify([...purged.ids]) });
    const events = new Set(rows.map(({ id }) => id));
    const isAbout = mentionsOf(new Set([...purged.ids, ...events]));
    const on = { store, scope, purged, events, isAbout };
    await forgetRecordings(on);
    await forgetInRuns(on);
    await forgetChanges(on);
    await forgetInBacktests(on);
    shadows.forget(scope, isAbout);
    await forgetInShadows(on);
  };
}

const recordings = tenantStatement<{ id: string; data: ArrayBuffer | Uint8Array | null }>(
  'run_records.page',
  'SELECT id, data FROM run_records WHERE workspace_id = :ws AND id > :after ORDER BY id LIMIT 10',
);
const dropRecording = tenantStatement(
  'run_records.drop',
  'DELETE FROM run_records WHERE workspace_id = :ws AND id = :id',
);

async function forgetRecordings(on: Forgetting): Promise<void> {
  const isAbout = mentionsOf(on.purged.ids);
  await throughPages(on, recordings, firstRun(on), async ({ id, data }) =>
    data && isAbout(await textOf(data)) ? [tenantOp(on.scope, dropRecording, { id })] : [],
  );
}

interface RunTexts {
  readonly id: string;
  readonly event_id: string | null;
  readonly effects_json: string;
  readonly texts: string;
  readonly error_json: string | null;
}

const runs = tenantStatement<RunTexts>(
  'runs.page',
  `SELECT id, event_id, effects_json, logs_json || coalesce(result_json, '') || coalesce(input_json, '') AS texts, error_json
   FROM runs WHERE workspace_id = :ws AND id > :after ORDER BY id LIMIT 200`,
);
/** The input of a run is retained until the run has ended and its proposal is decided, because a retry needs it. */
const forgetRun = tenantStatement(
  'runs.forget',
  `UPDATE runs SET effects_json = :effects, logs_json = '[]', result_json = NULL, error_json = :error,
     input_json = CASE WHEN finished_at IS NULL OR EXISTS (SELECT 1 FROM proposals AS p WHERE p.workspace_id = :ws
       AND p.id = runs.proposal_id AND p.status = 'open') THEN input_json END
   WHERE workspace_id = :ws AND id = :id`,
);
const answersOf = tenantStatement<{ id: string }>(
  'journal.of_runs',
  `SELECT id FROM journal WHERE workspace_id = :ws AND finished_at IS NOT NULL AND run_id IN (SELECT value FROM json_each(:runs))`,
);
const dropAnswers = tenantStatement(
  'journal.drop',
  'DELETE FROM journal WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))',
);

async function forgetInRuns(on: Forgetting): Promise<void> {
  const isAbout = mentionsOf(on.purged.ids);
  const runIds: string[] = [];
  await throughPages(on, runs, firstRun(on), ({ id, event_id: event, effects_json, texts, error_json }) => {
    const isOfIt = event !== null && on.events.has(event);
    if (!isOfIt && !isAbout(effects_json + texts + (error_json ?? ''))) return [];
    runIds.push(id);
    const effects = (JSON.parse(effects_json) as object[]).map((effect) => ({
      ...effect,
      name: undefined,
      values: undefined,
    }));
    return [
      tenantOp(on.scope, forgetRun, { id, effects: JSON.stringify(effects), error: plainError(error_json) }),
    ];
  });
  const answers = await on.store.read(on.scope, answersOf, { runs: JSON.stringify(runIds) });
  const ids = JSON.stringify(answers.map(({ id }) => id));
  if (answers.length > 0) await write(on, [tenantOp(on.scope, dropAnswers, { ids })]);
}

/** Removes the message, because an error can quote the issue. */
function plainError(json: string | null): string | null {
  if (json === null) return null;
  return JSON.stringify({
    ...(JSON.parse(json) as object),
    message: 'The message was removed when the issue was purged.',
  });
}

const storedChanges = tenantStatement<{ id: string; changes: ArrayBuffer | Uint8Array }>(
  'stored_changes.page',
  'SELECT id, changes FROM stored_changes WHERE workspace_id = :ws AND id > :after ORDER BY id LIMIT 20',
);
const updateChanges = tenantStatement(
  'stored_changes.remove_purged',
  'UPDATE stored_changes SET changes = :changes WHERE workspace_id = :ws AND id = :id',
);

/** Removes only the changes of purged issues, so that the other changes of a run can still be undone. */
async function forgetChanges(on: Forgetting): Promise<void> {
  const isAbout = mentionsOf(on.purged.ids);
  await throughPages(on, storedChanges, '', async ({ id, changes }) => {
    if (!isAbout(await textOf(changes))) return [];
    const fewer = withoutChanges(changes, ({ kind, id: object, before, after }) =>
      kind === 'issue' ? on.purged.ids.has(object) : isAbout(JSON.stringify([before, after])),
    );
    return [tenantOp(on.scope, updateChanges, { id, changes: fewer })];
  });
}

const backtests = tenantStatement<{ id: string; report_json: string | null }>(
  'backtests.page',
  'SELECT id, report_json FROM backtests WHERE workspace_id = :ws AND id > :after ORDER BY id LIMIT 5',
);
const updateReport = tenantStatement(
  'backtests.store_report',
  'UPDATE backtests SET report_json = :report WHERE workspace_id = :ws AND id = :id',
);

async function forgetInBacktests(on: Forgetting): Promise<void> {
  const first = firstIdOf(idPrefixes.backtest, on.purged.sinceMs);
  await throughPages(on, backtests, first, ({ id, report_json: report }) => {
    const fewer = prunedText(report, on.isAbout);
    return fewer === report ? [] : [tenantOp(on.scope, updateReport, { id, report: fewer })];
  });
}

const shadowReports = tenantStatement<{ install_id: string; report_json: string }>(
  'shadows.reports',
  'SELECT install_id, report_json FROM shadows WHERE workspace_id = :ws',
);
const updateShadowReport = tenantStatement(
  'shadows.store_report',
  'UPDATE shadows SET report_json = :report WHERE workspace_id = :ws AND install_id = :installId',
);

async function forgetInShadows(on: Forgetting): Promise<void> {
  const rows = await on.store.read(on.scope, shadowReports);
  const ops = rows.flatMap(({ install_id: installId, report_json: report }) => {
    const fewer = prunedText(report, on.isAbout);
    return fewer === report ? [] : [tenantOp(on.scope, updateShadowReport, { installId, report: fewer })];
  });
  await write(on, ops);
}

function prunedText<T extends string | null>(report: T, isAbout: Mentions): string | T {
  if (report === null || !isAbout(report)) return report;
  return JSON.stringify(withoutEntries(JSON.parse(report) as unknown, isAbout));
}

const firstRun = ({ purged }: Forgetting): string => firstIdOf(idPrefixes.run, purged.sinceMs);

/** @param after id before the first page; ids increase with time */
async function throughPages<R extends { readonly id: string }>(
  on: Forgetting,
  page: Statement<R>,
  after: string,
  opsOf: (row: R) => Promise<Op[]> | Op[],
): Promise<void> {
  for (let rows = await on.store.read(on.scope, page, { after }); rows.length > 0;) {
    const ops = (await Promise.all(rows.map(async (row) => opsOf(row)))).flat();
    await write(on, ops);
    await new Promise((resolve) => void setTimeout(resolve, restMs));
    rows = await on.store.read(on.scope, page, { after: rows.at(-1)!.id });
  }
}

async function write({ store }: Forgetting, ops: readonly Op[]): Promise<void> {
  if (ops.length === 0) return;
  const outcome = await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
  if (!outcome.ok) throw new Error(`Data of purged issues could not be removed: ${outcome.message}`);
}

async function textOf(compressed: ArrayBuffer | Uint8Array): Promise<string> {
  return new TextDecoder().decode(await Bun.zstdDecompress(compressed));
}

/** Report fields whose entries are each about one event or one object. */
const entries: ReadonlySet<string> = new Set(['effects', 'samples', 'differences']);

/**
 * Removes entries about given objects from a report of a backtest, gate or shadow. Totals are unchanged.
 * @returns the same value if no entry is about the objects
 */
export function withoutEntries<T>(report: T, isAbout: Mentions): T {
  return isAbout(JSON.stringify(report)) ? (pruned(report, isAbout) as T) : report;
}

function pruned(value: unknown, isAbout: Mentions): unknown {
  if (Array.isArray(value)) return value.map((one) => pruned(one, isAbout));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      entries.has(name) && Array.isArray(member)
        ? member.filter((one) => !isAbout(JSON.stringify(one)))
        : pruned(member, isAbout),
    ]),
  );
}
