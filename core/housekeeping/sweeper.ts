// Removes expired rows step by step until none is left. Pauses between steps for longer than a step takes, so that it keeps up with any
// write rate without delaying other work.
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
import type { RetentionSettings } from './retention.ts';
import type { Sweep } from './sweeps.ts';
import { dayMs } from '../lib/time.ts';

/**
 * Pause as a multiple of the duration of a step. `restMs` bounds the pause, because a step on a slow disk has
 * already waited for other work.
 */
const pauseFactor = 3;
const restMs = { least: 5, most: 50 };

/** Pauses to let other work run. @param tookMs duration of the previous step */
export async function rest(tookMs: number): Promise<void> {
  const ms = Math.min(Math.max(tookMs * pauseFactor, restMs.least), restMs.most);
  await new Promise((resolve) => setTimeout(resolve, ms));
}

interface Sweeping {
  readonly store: Store;
  readonly retention: RetentionSettings;
  readonly nowMs: () => number;
  readonly isStopped: () => boolean;
}

/** @returns the number of removed rows */
export async function runSweep(on: Sweeping, sweep: Sweep): Promise<number> {
  const days = sweep.retainedFor === null ? 0 : on.retention[sweep.retainedFor];
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
