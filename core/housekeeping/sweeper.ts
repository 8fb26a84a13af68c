// Removes what is too old, a step at a time until nothing is left of it. Between steps it rests for longer than they take, so that it
// keeps up with any rate of writes and holds nobody up.
import { firstIdOf } from '../lib/ids.ts';
import {
  scopeOf,
  systemOp,
  tenantOp,
  backgroundCommitDelayMs,
  type Op,
  type Scope,
  type Store,
} from '../store/store.ts';
import type { Params, Value } from '../store/statement.ts';
import type { Kept } from './retention.ts';
import type { Sweep } from './sweeps.ts';
import { dayMs } from '../lib/time.ts';

/** It rests this many times as long as a step took, within bounds: on a slow disk it is others that the step waited for. */
const restShare = 3;
const restMs = { least: 5, most: 50 };

/** Lets others have their turn. @param tookMs how long the step took that has ended */
export async function rest(tookMs: number): Promise<void> {
  const ms = Math.min(Math.max(tookMs * restShare, restMs.least), restMs.most);
  await new Promise((resolve) => setTimeout(resolve, ms));
}

interface Sweeping {
  readonly store: Store;
  readonly kept: Kept;
  readonly nowMs: () => number;
  readonly isStopped: () => boolean;
}

/** @returns how many rows it removed */
export async function sweepAway(on: Sweeping, sweep: Sweep): Promise<number> {
  const days = sweep.keptFor === null ? 0 : on.kept[sweep.keptFor];
  if (days === null) return 0;
  const before = on.nowMs() - days * dayMs;
  const { byId } = sweep;
  if (!byId) return exhaust(on, sweep, { before, limit: sweep.rows }, null);
  const until = firstIdOf(byId.prefix, before);
  let removed = 0;
  for (let after = ''; ;) {
    const [next] = await on.store.readSystem(byId.next, { after, until, before });
    if (!next || on.isStopped()) return removed;
    after = next.workspace_id;
    removed += await exhaust(on, sweep, { before, until, limit: sweep.rows }, scopeOf(after));
  }
}

async function exhaust(
  { store, isStopped }: Sweeping,
  { notes = [], removals }: Sweep,
  params: Readonly<Record<string, Value>>,
  scope: Scope | null,
): Promise<number> {
  const ops = [...notes, ...removals].map((statement): Op => {
    const own: Params = Object.fromEntries(
      Object.entries(params).filter(([name]) => statement.params.includes(name)),
    );
    return scope ? tenantOp(scope, statement, own) : systemOp(statement, own);
  });
  let removed = 0;
  while (!isStopped()) {
    const startedMs = performance.now();
    const outcome = await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
    if (!outcome.ok) throw new Error(`Housekeeping could not remove rows: ${outcome.message}`);
    const step = outcome.rows.slice(notes.length).reduce((sum, rows) => sum + rows.length, 0);
    if (step === 0) break;
    removed += step;
    await rest(performance.now() - startedMs);
  }
  return removed;
}
