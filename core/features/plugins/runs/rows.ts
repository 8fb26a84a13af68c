// Rows of runs: their columns, new rows, reads, and updates that leave the status as it is. `state.ts` has
// every statement that writes a status.
import type { RowOf } from '../../../kernel/table/define.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import type { HandlerKind } from '../../../../sdk/plugin/handlers.ts';
import type { RunStatus } from '../contract.ts';
import type { InstallMode } from '../installs/contract.ts';
import { effectiveMode } from '../installs/mode.ts';
import type { Install } from '../installs/model.ts';
import { runTable } from '../tables.ts';

/**
 * Stored run, with the undo that reverted it. `input_json` is a `RunInput`; null for a run triggered by an event or by the
 * time of its schedule. See `isForgotten`.
 */
export interface RunRow extends Omit<RowOf<typeof runTable>, 'handler_kind' | 'status' | 'mode'> {
  readonly handler_kind: HandlerKind;
  readonly status: RunStatus;
  readonly mode: InstallMode;
  readonly undone_by: string | null;
}

/** Columns that never change: identity, cause and place in the order of runs. */
const fixed = [
  ...(['id', 'install_id', 'handler_kind', 'handler', 'order_key', 'sequence'] as const),
  ...(['event_id', 'root_event_id', 'depth', 'created_at'] as const),
] as const satisfies readonly (keyof RunRow)[];
/** Columns of the record of an attempt. */
export const recorded = [
  ...([
    'status',
    'mode',
    'attempt',
    'started_at',
    'finished_at',
    'cpu_ms',
    'memory_bytes',
    'wall_ms',
  ] as const),
  ...(['queue_ms', 'events_json', 'calls_json', 'effects_json', 'logs_json', 'error_json'] as const),
  ...(['result_json', 'plugin_version'] as const),
] as const satisfies readonly (keyof RunRow)[];

/** Columns of a run that is stored before its first attempt. */
export const newColumns = [
  ...fixed,
  'status',
  'mode',
  'attempt',
  'finished_at',
  'error_json',
  'input_json',
] as const;
/** Columns of a queued run of an event. */
export const queuedColumns = [...fixed, 'status', 'mode', 'attempt'] as const;
/** Columns of a run that is stored at its end. */
export const endedColumns = [...fixed, ...recorded] as const;

export type RunRecord = Pick<RunRow, (typeof recorded)[number]>;

export function pick<C extends keyof RunRow>(row: Pick<RunRow, C>, columns: readonly C[]): Pick<RunRow, C> {
  const values: Partial<Pick<RunRow, C>> = {};
  for (const column of columns) values[column] = row[column];
  return values as Pick<RunRow, C>;
}

export const runColumns = `${runTable.columns.join(', ')},
  (SELECT k.undone_by FROM stored_changes AS k WHERE k.workspace_id = runs.workspace_id AND k.id = runs.id) AS undone_by`;

/** True if the input of the run was removed with a purged issue, so that it cannot run again. */
export function isForgotten({ input_json: input }: RunRow): boolean {
  return input === 'null';
}

/** Identity of a run and its place in the order of runs. */
export interface RunKey {
  readonly id: string;
  readonly installId: string;
  readonly handler: { readonly kind: HandlerKind; readonly name: string };
  readonly orderKey: string;
  readonly sequence: number;
}

export interface NewRun extends RunKey {
  readonly eventId: string | null;
  readonly rootEventId: string | null;
  readonly depth: number;
  readonly mode: InstallMode;
  /** JSON of a `RunInput`. */
  readonly inputJson?: string | null;
}

/** Returns a new run that no event caused. Its order key is unique, so that it never waits for another run. */
export function uncausedRun(id: string, install: Install, handler: NewRun['handler'], nowMs: number): NewRun {
  return {
    id,
    installId: install.id,
    handler,
    orderKey: id,
    sequence: nowMs,
    eventId: null,
    rootEventId: null,
    depth: 0,
    mode: effectiveMode(install),
  };
}

/** Returns a new run of a schedule, due by its time or by request. */
export function scheduledRun(id: string, install: Install, schedule: string, nowMs: number): NewRun {
  const handler = { kind: 'schedule', name: schedule } as const;
  return { ...uncausedRun(id, install, handler, nowMs), orderKey: 'schedule' };
}

/** Returns the row of a run that has just been queued. */
export function queuedRow(run: NewRun, nowMs: number): RunRow {
  return {
    id: run.id,
    install_id: run.installId,
    handler_kind: run.handler.kind,
    handler: run.handler.name,
    order_key: run.orderKey,
    sequence: run.sequence,
    event_id: run.eventId,
    root_event_id: run.rootEventId,
    depth: run.depth,
    status: 'queued',
    mode: run.mode,
    attempt: 0,
    created_at: nowMs,
    started_at: null,
    finished_at: null,
    cpu_ms: null,
    memory_bytes: null,
    wall_ms: null,
    queue_ms: null,
    events_json: '[]',
    calls_json: '[]',
    effects_json: '[]',
    logs_json: '[]',
    error_json: null,
    progress_json: null,
    continued_by: null,
    continuation: 0,
    fired_at: null,
    interruptions: 0,
    undone_by: null,
    input_json: run.inputJson ?? null,
    result_json: null,
    proposal_id: null,
    plugin_version: null,
  };
}

/** Returns the identity and order of a stored run. */
export function keyOf(run: RunRow): RunKey {
  return {
    id: run.id,
    installId: run.install_id,
    handler: { kind: run.handler_kind, name: run.handler },
    orderKey: run.order_key,
    sequence: run.sequence,
  };
}

/** Error code of a run that was given up because its plugin was inactive. */
export const abandonedCode = 'plugin_inactive';

const abandonedFilter = `workspace_id = :ws AND install_id = :installId AND status = 'canceled'
  AND handler_kind = 'event' AND json_extract(error_json, '$.code') = '${abandonedCode}'`;

/** One page of given-up runs, earliest first. */
export const abandonedRuns = tenantStatement<RunRow>(
  'runs.given_up',
  `SELECT ${runColumns} FROM runs WHERE ${abandonedFilter} ORDER BY sequence LIMIT 200`,
);
const abandonedCount = tenantStatement<{ count: number }>(
  'runs.count_given_up',
  `SELECT count(*) AS count FROM runs INDEXED BY runs_canceled WHERE ${abandonedFilter}`,
);

export async function countAbandoned(store: Store, scope: Scope, installId: string): Promise<number> {
  return (await store.readOne(scope, abandonedCount, { installId }))?.count ?? 0;
}

const findRunRow = tenantStatement<RunRow>(
  'runs.find',
  `SELECT ${runColumns} FROM runs WHERE workspace_id = :ws AND id = :id`,
);
const countOfRoot = tenantStatement<{ count: number }>(
  'runs.of_root',
  `SELECT count(*) AS count FROM
     (SELECT 1 FROM runs WHERE workspace_id = :ws AND root_event_id = :rootEventId LIMIT 100)`,
);
const interrupted = tenantStatement(
  'runs.interrupted',
  'UPDATE runs SET interruptions = interruptions + 1 WHERE workspace_id = :ws AND id = :id',
);
const setProposal = tenantStatement(
  'runs.proposed',
  'UPDATE runs SET proposal_id = :proposalId WHERE workspace_id = :ws AND id = :id',
);

export function findRun(store: Store, scope: Scope, id: string): Promise<RunRow | undefined> {
  return store.readOne(scope, findRunRow, { id });
}

/** Returns the number of runs of a root event, at most 100. */
export async function runsOfRoot(store: Store, scope: Scope, rootEventId: string): Promise<number> {
  return (await store.readOne(scope, countOfRoot, { rootEventId }))?.count ?? 0;
}

/** Links a run to its proposal. */
export function proposedOp(scope: Scope, id: string, proposalId: string): Op {
  return tenantOp(scope, setProposal, { id, proposalId });
}

/** Counts an interruption that the run did not cause. */
export function interruptedOp(scope: Scope, id: string): Op {
  return tenantOp(scope, interrupted, { id });
}
