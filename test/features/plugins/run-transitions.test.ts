// The database refuses every transition of a run that the table in `state.ts` lacks, whichever code asks for
// it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { runStatus, type RunStatus } from '../../../core/features/plugins/contract.ts';
import { findRun, pick, queuedRow, recorded, type NewRun } from '../../../core/features/plugins/runs/rows.ts';
import {
  decidedRunOps,
  giveUpOp,
  insertRunsOp,
  recordRunOp,
  requeueRunOps,
  waitOp,
  wakeOps,
} from '../../../core/features/plugins/runs/state.ts';
import { openRun } from '../../../core/features/plugins/tables.ts';
import type { WorkQueue } from '../../../core/kernel/events/work/queue.ts';
import { tenantStatement } from '../../../core/platform/store/statement.ts';
import { scopeOf, tenantOp, type Op, type Scope } from '../../../core/platform/store/store.ts';
import { startApp, type TestApp } from '../../app.ts';

let app: TestApp;
let scope: Scope;
beforeAll(async () => {
  app = await startApp();
  scope = scopeOf(app.workspace.workspaceId);
});
afterAll(() => app.stop());

const id = 'run_00000000000000000000000001';
const proposalId = 'prp_00000000000000000000000001';
const untilMs = 8_000_000_000_000;
const run: NewRun = {
  ...{ id, installId: 'plg_00000000000000000000000001', handler: { kind: 'event', name: 'issue.created' } },
  ...{ orderKey: id, sequence: 1, eventId: null, rootEventId: null, depth: 0, mode: 'apply' },
};
const row = queuedRow(run, 1);
/** Leases nothing, so that no worker starts the run. */
const queue = {
  lease: () => ({ dueAt: untilMs, leaseUntil: 0, owner: null }),
  due: (op: Op) => op,
} as Partial<WorkQueue> as WorkQueue;

const setStatus = tenantStatement(
  'test.runs.set_status',
  `UPDATE runs SET status = :status, proposal_id = '${proposalId}', finished_at = NULL WHERE workspace_id = :ws AND id = :id`,
);
const clearWork = tenantStatement(
  'test.due_work.clear',
  'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id',
);
const addWork = tenantStatement(
  'test.due_work.add',
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   VALUES (:ws, :id, 'run', '${run.installId}', ${untilMs}, 0, NULL, 1)`,
);

const record = (status: RunStatus): Op =>
  recordRunOp(scope, id, pick({ ...row, status, attempt: 1, finished_at: 2 }, recorded));
const giveUp = (status: 'dead' | 'canceled'): Op => giveUpOp(scope, id, { status, error: { code: 'x' } }, 2);
const decide = (status: 'approved' | 'rejected'): readonly Op[] =>
  decidedRunOps(scope, { type: `automation.${status}`, data: { id: proposalId, runId: id, status } });

/** Ops of each transition, with each status that the caller can ask for. */
const asked: Readonly<Record<string, () => (readonly Op[] | Promise<readonly Op[]>)[]>> = {
  end: () => [[record('succeeded')], [record('proposed')], [record('dead')]],
  'put off': () => [[record('retrying')]],
  'give up': () => [[giveUp('dead')], [giveUp('canceled')]],
  wait: () => [[waitOp(scope, id)]],
  wake: () => [[tenantOp(scope, addWork, { id }), ...wakeOps(scope, run.installId, untilMs, untilMs)]],
  decide: () => [decide('approved'), decide('rejected')],
  requeue: () => [requeueRunOps(queue, scope, row, { mode: 'apply', nowMs: 1 })],
};

const { enum: statuses } = runStatus as unknown as { readonly enum: readonly RunStatus[] };
const source = await Bun.file('core/features/plugins/runs/state.ts').text();
const words = (cell: string): RunStatus[] => [...cell.matchAll(/[a-z]+/g)].map(([word]) => word as RunStatus);
/** Rows of the table in the header: transition, statuses before and statuses after. */
const table = [...source.matchAll(/^\/\/ \| ([a-z ]+?) +\| ([a-z, -]+?) +\| ([a-z, ]+?) +\| /gm)].map(
  ([, name, from, to]) => ({ name: name!, from: words(from!), to: words(to!) }),
);

test('the table names every transition, and only stored statuses', () => {
  const existing = table.filter(({ from }) => from.length > 0).map(({ name }) => name);
  expect(existing.toSorted()).toEqual(Object.keys(asked).toSorted());
  const stored = new Set(table.flatMap(({ from, to }) => [...from, ...to]));
  const all = new Set(statuses);
  all.delete('running');
  expect(stored).toEqual(all);
});

for (const { name, from, to } of table.filter((one) => one.from.length > 0))
  test(`${name} leaves only ${from.join(', ')}, and leads to ${to.join(', ')}`, async () => {
    const { store } = app.services;
    await store.commit([insertRunsOp(scope, [row])]);
    const reached = new Set<RunStatus>();
    for (const before of statuses)
      for (const [at] of asked[name]!().entries()) {
        await store.commit([
          tenantOp(scope, clearWork, { id }),
          tenantOp(scope, setStatus, { id, status: before }),
        ]);
        await store.commit(await asked[name]!()[at]!);
        const after = (await findRun(store, scope, id))!;
        // A transition to the same status is seen by what else it writes; `wait` writes nothing else.
        if (from.includes(before)) reached.add(after.status);
        else expect([before, after.status, after.finished_at]).toEqual([before, before, null]);
      }
    expect([...reached].toSorted()).toEqual(to.toSorted());
  });

test('the record of an attempt cannot have a status that no attempt leads to', async () => {
  const { store } = app.services;
  for (const status of ['queued', 'running', 'waiting', 'canceled'] as const) {
    await store.commit([tenantOp(scope, setStatus, { id, status: 'queued' })]);
    expect((await store.commit([record(status)])).ok).toBe(false);
  }
});

test('the index of open runs has the declared statuses', async () => {
  const baseline = await Bun.file('core/platform/store/migrations/0001-baseline.sql').text();
  const [, condition] = /CREATE INDEX runs_open [^;]*?\bWHERE ([^;]+);/.exec(baseline) ?? [];
  expect(condition).toBe(openRun);
});
