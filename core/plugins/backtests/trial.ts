// One run of a version on one event of the past: in the real sandbox, at the real door, and nothing of it is kept.
import * as callErrors from '../../../sdk/plugin/errors.ts';
import type { Committer } from '../../changes/commit.ts';
import type { EventRow } from '../../events/event.ts';
import { derivedId, idPrefixes } from '../../lib/ids.ts';
import type { SeenPast } from '../../resource/as-of/past.ts';
import type { Scope, Store } from '../../store/store.ts';
import type { Install } from '../installs/schema.ts';
import type { Attempts } from '../runs/attempt.ts';
import { previewEffects, type Effect } from '../runs/effects.ts';
import { queuedRow, type RunRow } from '../runs/rows.ts';
import type { RunValues } from './values.ts';
import { worldOf } from './world.ts';

/** A version that is tried. */
export interface Version {
  readonly install: Install;
  readonly source: string;
  /** Names its isolates. */
  readonly lane: string;
  /** The values as the next run sees them. */
  readonly values: () => RunValues;
}

export interface Tried {
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly effects: readonly Effect[];
  readonly cpuMs: number;
  /** The code of each call that was refused; null of one that was answered. */
  readonly calls: readonly (string | null)[];
  /** Operations that were answered as of now. */
  readonly asOfNow: readonly string[];
}

/** A run that was lost through no fault of its own is made again so often. */
const attemptsMax = 3;

interface Order {
  /** The run that was made for the event, where this is one beside it. */
  readonly again?: RunRow;
  /** The trials before it, which may still be under way: it ends behind them, and is made again where it saw less than what they kept. */
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

export function createTrials(options: {
  readonly attempts: Attempts;
  readonly store: Store;
  readonly committer: Pick<Committer, 'preview'>;
}): TryOn {
  const { attempts } = options;
  return async (scope, version, event, past, signal, { again, before } = {}) => {
    const { install, source, lane } = version;
    const run = again ?? runOf(version, event);
    try {
      for (let attempt = 1; ;) {
        const values = version.values();
        const asOfNow: string[] = [];
        const noteNow = (operation: string): void => void asOfNow.push(operation);
        const world = worldOf({ past, values, source, lane, noteNow });
        const made = await attempts.make({ item: { scope }, run, event, signal, world }, install);
        const { outcome, staged } = made;
        const seen = { cpuMs: outcome.cpuMs, calls: made.calls.map(({ code }) => code), asOfNow };
        if (outcome.status === 'interrupted' && attempt++ < attemptsMax && !signal.aborted) continue;
        await before;
        // Those before it have ended: what it finds now stays.
        if (values.isStale() && !signal.aborted) continue;
        if (outcome.status === 'succeeded') {
          values.keep();
          const at = { scope, directory: past.directory };
          return { ...seen, error: null, effects: await previewEffects(options, at, staged.changes) };
        }
        const code = outcome.status === 'failed' ? codeOf(outcome, seen.calls) : 'interrupted';
        return { ...seen, error: { code, message: outcome.message }, effects: [] };
      }
    } finally {
      attempts.forget(run.id);
    }
  };
}

/** Codes by the names that errors of calls have; `PluginError` stands for any other. */
const codes: ReadonlyMap<string, string> = new Map(
  Object.values(callErrors).map(({ name, code }) => [name, code]),
);

/** The reason; of a refused call that the handler let through the code of the refusal, as an `error` in the handler is its author's own. */
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

/** As the planner would make it. */
function runOf({ install, lane }: Version, event: EventRow): RunRow {
  return queuedRow(
    {
      id: derivedId(idPrefixes.run, event.id, lane),
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
