// Runs the installed and another version on the events of the last runs, and reports the differences.
import { isDeepStrictEqual } from 'node:util';
import { findEvent } from '../../../kernel/events/log/log.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import type { BacktestEngine, BacktestProgress } from './engine/engine.ts';
import { fieldEffectsOf } from './fields.ts';
import type { GateReport } from './report.ts';
import type { RunResult, Tried, Version } from './engine/trial.ts';

const lastRuns = tenantStatement<{ event_id: string }>(
  'runs.last_of_events',
  `SELECT event_id FROM runs WHERE workspace_id = :ws AND install_id = :installId AND event_id IS NOT NULL
   ORDER BY created_at DESC, id DESC LIMIT :limit`,
);

export async function throughGate(
  engine: BacktestEngine,
  store: Store,
  scope: Scope,
  { old, next, runs }: { readonly old: Version; readonly next: Version; readonly runs: number },
  signal: AbortSignal,
  onProgress: (progress: BacktestProgress) => void,
): Promise<GateReport> {
  const rows = await store.read(scope, lastRuns, { installId: old.install.id, limit: runs });
  const lastEvents = await Promise.all(rows.map(({ event_id }) => findEvent(store, scope, event_id)));
  const events = lastEvents.filter((event) => event !== undefined).sort((a, b) => a.sequence - b.sequence);
  const wanting = await Promise.all([old, next].map(({ install }) => engine.subscribed(scope, install)));
  const pasts = engine.pastsFor(scope, old.install);
  const differences: GateReport['differences'][number][] = [];
  for (const [index, event] of events.entries()) {
    await engine.yieldTo(signal);
    pasts.moved();
    const tried: Tried[] = [];
    for (const [at, version] of [old, next].entries())
      tried.push(
        (await wanting[at]!(event))
          ? await engine.tryOn(scope, version, event, await pasts.at(event), signal)
          : unwanted,
      );
    signal.throwIfAborted();
    const fields = differencesOf(tried[0]!, tried[1]!);
    const at = new Date(event.createdAt).toISOString();
    if (fields.length > 0) differences.push({ eventId: event.id, type: event.type, at, fields });
    onProgress({ looked: index + 1, of: events.length, runs: 2 * (index + 1) });
  }
  const different = differences.length;
  return { runs: events.length, same: events.length - different, different, differences };
}

export const unwanted: Tried = { error: null, effects: [], cpuMs: 0, calls: [], asOfNow: [] };

/** Returns the values that two runs on the same event set differently. */
export function differencesOf(old: RunResult, next: RunResult): GateReport['differences'][number]['fields'] {
  const [was, is] = [valuesOf(old), valuesOf(next)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((key) => {
    const [object, field] = JSON.parse(key) as [string, string];
    const [one, other] = [was.get(key) ?? null, is.get(key) ?? null];
    return isDeepStrictEqual(one, other) ? [] : [{ object, field, old: one, new: other }];
  });
}

/**
 * Returns the set values by object and field. Created objects have different ids in each run, so they are
 * numbered by type.
 */
function valuesOf({ error, effects }: RunResult): Map<string, unknown> {
  const values = new Map<string, unknown>();
  const createdCounts = new Map<string, number>();
  if (error) values.set(JSON.stringify(['run', 'error']), `${error.code}: ${error.message}`);
  for (const effect of effects) {
    const ordinal = (createdCounts.get(effect.kind) ?? 0) + 1;
    if (effect.action === 'create') createdCounts.set(effect.kind, ordinal);
    const object = `${effect.kind} ${effect.action === 'create' ? `new ${ordinal}` : effect.id}`;
    for (const { field, wouldBe } of fieldEffectsOf(effect))
      values.set(JSON.stringify([object, field]), wouldBe);
  }
  return values;
}
