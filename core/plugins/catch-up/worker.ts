// Counts what lies in a gap once it is closed and says so in the inbox; on request makes its runs, a page of the log per batch. A
// crash repeats no page: runs and progress are one batch.
import { systemAuthor, type Committer } from '../../changes/commit.ts';
import type { Directory } from '../../context.ts';
import type { EventRow } from '../../events/event.ts';
import { pageAfter } from '../../events/log.ts';
import { neverMs, type WorkItem, type WorkQueue } from '../../events/work.ts';
import { inboxItem } from '../../inbox/inbox.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Ids } from '../../lib/ids.ts';
import { backgroundPatienceMs, type Scope, type Store } from '../../store/store.ts';
import type { Install } from '../installs/schema.ts';
import type { Planner } from '../planner.ts';
import type { Registry } from '../registry.ts';
import { countGivenUp, givenUpRuns, reviveRunOps } from '../runs/given-up.ts';
import { countedOp, findGap, metEvents, moveGapOp, type GapRow } from './rows.ts';

const pageEvents = 200;

export interface CatchUpWorkerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly registry: Registry;
  readonly planner: Planner;
  readonly runs: WorkQueue;
  /** Once true, what is left is for the next start. */
  readonly stopped: () => boolean;
}

export function createCatchUpWorker(options: CatchUpWorkerOptions) {
  const { store, clock, ids, registry, planner, runs } = options;
  const patience = { patienceMs: backgroundPatienceMs };

  /** The wanted events of a page of the gap that the install has not met, and where the page ends. */
  const pageOf = async (scope: Scope, gap: GapRow, install: Install, after: number) => {
    const until = gap.until_sequence ?? after;
    const page = await pageAfter(store, scope, after, { limit: pageEvents });
    const events = page.events.filter(({ sequence }) => sequence <= until);
    const wanted = await planner.wanted(scope, install.id, events);
    const met = wanted.length === 0 ? new Set<string>() : await metOf(scope, install.id, wanted);
    return {
      events: wanted.filter(({ id }) => !met.has(id)),
      to: events.at(-1)?.sequence ?? after,
      ends: !page.more || page.through >= until,
    };
  };

  const metOf = async (
    scope: Scope,
    installId: string,
    events: readonly EventRow[],
  ): Promise<Set<string>> => {
    const roots = JSON.stringify(events.map(({ id, cause }) => cause.rootEventId ?? id));
    return new Set((await store.read(scope, metEvents, { roots, installId })).map((row) => row.event_id));
  };

  /** False once it is counted; true where somebody asked for the runs meanwhile. */
  const count = async (item: WorkItem, queue: WorkQueue, gap: GapRow, install: Install): Promise<boolean> => {
    const { scope } = item;
    let missed = 0;
    for (let after = gap.after_sequence, ends = false; !ends;) {
      if (options.stopped()) return false;
      const page = await pageOf(scope, gap, install, after);
      missed += page.events.length;
      after = page.to;
      ends = page.ends;
    }
    const nowMs = clock.nowMs();
    const waiting = missed + (await countGivenUp(store, scope, install.id));
    const name = install.manifest.name ?? install.pluginId;
    const told = inboxItem(
      {
        kind: 'plugin_missed_events',
        title: `The plugin ${name} missed ${waiting} events while it was switched off`,
        body: `It is on again. What it missed is not run by itself: POST /api/v1/plugins/${install.id}/catch-up has it run now.`,
        target: { kind: 'plugin', id: install.id },
      },
      { ids, nowMs },
    );
    const author = systemAuthor(scope, 'sandbox', await options.directoryOf(scope));
    const rest = waiting === 0 ? queue.finish(item) : queue.defer(item, neverMs);
    const committed = await options.committer.commit(
      author,
      waiting > 0 && gap.cause === 'system' ? [told] : [],
      [rest, countedOp(scope, gap.id, missed, waiting === 0 ? nowMs : null)],
      [],
      patience,
    );
    return !committed.ok && committed.op > 0;
  };

  /** One page of runs that were given up; false when there are none left. */
  const revive = async (scope: Scope, gap: GapRow, install: Install): Promise<boolean> => {
    const given = await store.read(scope, givenUpRuns, { installId: install.id });
    if (given.length === 0) return false;
    const from = gap.after_sequence;
    const moved = { from, to: from, made: given.length, status: 'running' as const, finishedAt: null };
    const leases = runs.draft();
    const ops = given.flatMap((run) => reviveRunOps(leases, scope, run, install.mode, clock.nowMs()));
    const outcome = await store.commit([moveGapOp(scope, gap.id, moved), ...ops], patience);
    if (outcome.ok)
      for (let index = 0; index < given.length; index++) runs.adopt(scope, outcome.rows[2 + index * 2] ?? []);
    return true;
  };

  /** One page; false once the gap is done. */
  const step = async (item: WorkItem, queue: WorkQueue, gap: GapRow, install: Install): Promise<boolean> => {
    const { scope } = item;
    if (await revive(scope, gap, install)) return true;
    const from = gap.after_sequence;
    const page = await pageOf(scope, gap, install, from);
    const plan = await planner.runsFor(scope, install.id, page.events);
    const status = page.ends ? ('done' as const) : ('running' as const);
    const finishedAt = page.ends ? clock.nowMs() : null;
    const first = [
      moveGapOp(scope, gap.id, { from, to: page.to, made: page.events.length, status, finishedAt }),
      ...(page.ends ? [queue.finish(item)] : []),
    ];
    const outcome = await store.commit([...first, ...plan.ops], patience);
    if (outcome.ok) plan.committed?.(outcome.rows.slice(first.length));
    return !(outcome.ok && page.ends);
  };

  return async (item: WorkItem, queue: WorkQueue): Promise<void> => {
    while (!options.stopped()) {
      const gap = await store.readOne(item.scope, findGap, { id: item.id });
      if (!gap || gap.status === 'done') return void (await store.commit([queue.finish(item)]));
      const install = await registry.active(item.scope, gap.install_id);
      // Off again: it is asked for anew when it is on.
      if (!install || gap.status === 'off' || gap.status === 'offered')
        return void (await store.commit([queue.defer(item, neverMs)]));
      const act = gap.status === 'counting' ? count : step;
      if (!(await act(item, queue, gap, install))) return;
    }
  };
}
