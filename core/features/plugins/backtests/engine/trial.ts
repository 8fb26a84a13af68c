// Runs a version on one past event, in the real sandbox and against the real API, without committing anything.
import * as callErrors from '../../../../../sdk/plugin/errors.ts';
import type { EventRow } from '../../../../kernel/events/event.ts';
import { derivedId, idPrefixes } from '../../../../platform/lib/ids.ts';
import type { SeenPast } from '../../../../kernel/resource/as-of/past.ts';
import type { Scope } from '../../../../platform/store/store.ts';
import type { PluginDeps } from '../../deps.ts';
import type { Install } from '../../installs/schema.ts';
import type { Attempts } from '../../runs/attempt/attempt.ts';
import { previewEffects, type RunEffect } from '../../runs/effects.ts';
import { queuedRow, type RunRow } from '../../runs/rows.ts';
import type { RunValues } from '../values.ts';
import { worldOf } from './world.ts';

/** A version under test. */
export interface Version {
  readonly install: Install;
  readonly source: string;
  /** Install id under which the isolates of this version run. */
  readonly isolateId: string;
  /** Returns the stored values of the plugin for the next run. */
  readonly values: () => RunValues;
}

/** Result of a run. */
export interface RunResult {
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly effects: readonly RunEffect[];
}

export interface Tried extends RunResult {
  readonly cpuMs: number;
  /** Error code of each refused call; null for an answered one. */
  readonly calls: readonly (string | null)[];
  /** Read operations that returned present data instead of past data. */
  readonly asOfNow: readonly string[];
}

/** Limit of attempts of an interrupted run. */
const attemptsMax = 3;

interface Order {
  /** Live run that a shadow repeats; default a new run. */
  readonly again?: RunRow;
  /**
   * Resolves when the earlier trials have ended. The trial ends after them, and is repeated if they changed
   * values that it read.
   */
  readonly before?: Promise<unknown>;
}

export type TryOn = (
  scope: Scope,
  version: Version,
  event: EventRow,
  past: SeenPast,
  signal: AbortSignal,
  order?: Order,
) => Promise<Tried>;

export function createTrials(deps: PluginDeps, attempts: Attempts): TryOn {
  return async (scope, version, event, past, signal, { again, before } = {}) => {
    const { install, source, isolateId } = version;
    const run = again ?? runOf(version, event);
    try {
      for (let attempt = 1; ;) {
        const values = version.values();
        const asOfNow: string[] = [];
        const noteNow = (operation: string): void => void asOfNow.push(operation);
        const world = worldOf({ past, values, source, isolateId, noteNow });
        const performed = await attempts.make({ item: { scope }, run, event, signal, world }, install);
        const { outcome, staged } = performed;
        const seen = { cpuMs: outcome.cpuMs, calls: performed.calls.map(({ code }) => code), asOfNow };
        if (outcome.status === 'interrupted' && attempt++ < attemptsMax && !signal.aborted) continue;
        await before;
        // The earlier trials have ended, so their values are final.
        if (values.isStale() && !signal.aborted) continue;
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
