// Runs a version on one past event, in the real sandbox and against the real API, without committing
// anything.
import type { Past } from '../../../kernel/changes/find.ts';
import type { Outcome, ValueCall } from '../../../kernel/http/values.ts';
import type { Route } from '../../../kernel/http/route.ts';
import type { SeenPast } from '../../../kernel/resource/as-of/past.ts';
import type { HostGateway } from '../host-calls/gateway.ts';
import type { OwnValues } from '../kv/own.ts';
import type { RunValues } from './values.ts';
import * as callErrors from '../../../../sdk/plugin/errors.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { derivedId, idPrefixes } from '../../../platform/lib/ids.ts';
import type { Scope } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import type { Attempts, RunAttempt } from '../runs/attempt.ts';
import { previewEffects } from '../runs/effects.ts';
import { queuedRow, type RunRow } from '../runs/rows.ts';
import type { RunResult } from './comparisons.ts';
import type { Version } from './versions.ts';

/** Result of a trial run. */
export interface Tried extends RunResult {
  readonly cpuMs: number;
  /** Error code of each refused call; null for an answered one. */
  readonly calls: readonly (string | null)[];
  /** Read operations that returned present data instead of past data. */
  readonly asOfNow: readonly string[];
}

/** Result of a version that does not subscribe to the event. */
export const notSubscribed: Tried = { error: null, effects: [], cpuMs: 0, calls: [], asOfNow: [] };

interface TrialRun {
  readonly scope: Scope;
  readonly event: EventRow;
  readonly past: SeenPast;
  readonly signal: AbortSignal;
  /** Live run that a shadow repeats; default a new run. */
  readonly live?: RunRow | undefined;
  /**
   * Resolves when the earlier trial runs have ended. This one ends after them, and is repeated if they changed
   * values that it read.
   */
  readonly before?: Promise<unknown>;
}

export type TryOn = (version: Version, run: TrialRun) => Promise<Tried>;

/** Limit of attempts of an interrupted trial run. */
const attemptsMax = 3;

/** Repeats an attempt that other runs or a restart of the sandbox interrupted. */
export async function uninterrupted<Made extends Pick<RunAttempt, 'outcome'>>(
  signal: AbortSignal,
  attempt: () => Promise<Made>,
): Promise<Made> {
  for (let attempts = 1; ; attempts++) {
    const made = await attempt();
    if (made.outcome.status !== 'interrupted' || attempts >= attemptsMax || signal.aborted) return made;
  }
}

export function createTryOn(deps: PluginDeps, attempts: Attempts): TryOn {
  return async (version, { scope, event, past, signal, live, before }) => {
    const { install } = version;
    const run = live ? { ...live, mode: install.mode } : runOf(version, event);
    try {
      for (;;) {
        const { outcome, staged, calls, values, asOfNow } = await uninterrupted(signal, async () => {
          const [values, asOfNow] = [version.values(), [] as string[]];
          const world = worldOf(version, past, values, (operation) => void asOfNow.push(operation));
          const tried = { item: { scope }, run, event, signal, world };
          return { ...(await attempts.make(tried, install)), values, asOfNow };
        });
        await before;
        // The earlier trial runs have ended, so their values are final.
        if (values.isStale() && !signal.aborted) continue;
        const seen = { cpuMs: outcome.cpuMs, calls: calls.map(({ code }) => code), asOfNow };
        if (outcome.status === 'succeeded') {
          values.commit();
          const at = { scope, directory: past.directory };
          return { ...seen, error: null, effects: await previewEffects(deps, at, staged.changes) };
        }
        const code = outcome.status === 'failed' ? codeOf(outcome, seen.calls) : 'interrupted';
        return { ...seen, error: { code, message: outcome.message }, effects: [] };
      }
    } finally {
      attempts.forget(run.id);
    }
  };
}

/** Error codes by error name. `PluginError` is the name of errors whose code has no class. */
const codes: ReadonlyMap<string, string> = new Map(
  Object.values(callErrors).map(({ name, code }) => [name, code]),
);

/** Returns the reason of a failure, or the code of a refused call that the handler did not catch. */
function codeOf(
  { reason, message }: { readonly reason: string; readonly message: string },
  calls: Tried['calls'],
): string {
  const name = message.split(': ', 1)[0]!;
  if (reason !== 'error' || !codes.has(name)) return reason;
  return name === callErrors.PluginError.name
    ? (calls.findLast((code) => code !== null) ?? reason)
    : codes.get(name)!;
}

/** Returns a run like the one that the planner would create. */
function runOf({ install, isolateId }: Version, event: EventRow): RunRow {
  return queuedRow(
    {
      id: derivedId(idPrefixes.run, event.id, isolateId),
      installId: install.id,
      handler: { kind: 'event', name: event.type },
      orderKey: event.subjectId ?? event.entityId,
      sequence: event.sequence,
      eventId: event.id,
      rootEventId: event.cause.rootEventId,
      depth: event.cause.depth,
      mode: install.mode,
    },
    event.createdAt,
  );
}

/**
 * Environment of a trial: the time of its event, separate stored values, and an API that answers reads
 * as of that time. Reads that the event log cannot answer return present data and are counted.
 */
export interface World {
  readonly past: Past;
  readonly values: OwnValues;
  /** Code of the version, which may not be installed. */
  readonly source: string;
  /** Install id of the isolates, shared only among runs of this version. */
  readonly isolateId: string;
  gateway(real: HostGateway): HostGateway;
}

/** @param noteNow called for each read that returned present data, with its operation */
function worldOf(
  { source, isolateId }: Version,
  past: SeenPast,
  values: RunValues,
  noteNow: (operation: string) => void,
): World {
  /** Returns null if the read must be answered with present data. */
  const askPast = async (
    real: HostGateway,
    route: Route,
    call: ValueCall,
  ): Promise<Outcome<string> | null> => {
    if (!takesAsOf(route) || showsStaged(route, call)) return null;
    const asOf = String(past.sequence);
    const outcome = await real.call(route, { ...call, query: { ...call.query, asOf } });
    // Some list parameters are not supported for the past.
    return outcome.error?.code === 'validation_failed' ? null : outcome;
  };

  return {
    past,
    values,
    source,
    isolateId,
    gateway: (real) => ({
      ...real,
      async call(route, call) {
        if (route === real.listKeys) return values.listed(call.query ?? {});
        if (route.kind !== 'read') return real.call(route, call);
        const then = await askPast(real, route, call);
        if (then) return then;
        const before = past.answered();
        const outcome = await real.call(route, call);
        // A single object is read from the log; the members of a list are known only for the present.
        const isFromLog =
          route.name.endsWith('.get') && (past.answered() > before || showsStaged(route, call));
        if (!isFromLog) noteNow(route.name);
        return outcome;
      },
    }),
  };
}

function takesAsOf({ query }: Route): boolean {
  return query !== undefined && 'asOf' in query.properties;
}

/** True if a read of a single object must show the run's staged writes, which are not in the log. */
function showsStaged({ name }: Route, { staged, params }: ValueCall): boolean {
  if (!name.endsWith('.get') || !staged) return false;
  const id = params?.id ?? '';
  // An identifier such as `ENG-12` may refer to any staged object.
  return staged.changes.some((change) => change.id === id || !id.includes('_'));
}
