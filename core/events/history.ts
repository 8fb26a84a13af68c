// Resolves a reader's position across log generations. A restore starts a new generation: up to its cut both
// generations are the same, and after it a sequence names another event. A position is therefore a sequence and a
// generation, and a reader whose position no longer exists gets the sequence to continue from. Spec:
// docs/spec/events.md › After a restore.
import type { Context } from '../context.ts';
import { ApiError } from '../lib/errors.ts';
import { logCuts } from '../store/installation.ts';
import { lastSequence } from './log.ts';

/** Position in the log as given by a reader. */
export interface RequestedPosition {
  /** Null for an event that exists in no known generation. */
  readonly sequence: number | null;
  /** Log generation of the sequence; null if the reader gives none. */
  readonly generation: string | null;
}

/**
 * Returns the sequence to continue after.
 * @throws ApiError history_changed if the position is after a cut or after the end of the log
 */
export async function resolvePosition(
  ctx: Context,
  { sequence, generation }: RequestedPosition,
): Promise<number> {
  const end = await lastSequence(ctx.store, ctx.scope);
  const isOfNow = generation === null || generation === ctx.generation;
  if (isOfNow && sequence !== null && sequence <= end) return sequence;
  const common = await commonUntil(ctx, generation, end);
  if (sequence !== null && sequence <= common) return sequence;
  throw historyChanged(ctx.generation, common);
}

/** Returns the last sequence that the reader's generation shares with the current one. */
async function commonUntil(ctx: Context, generation: string | null, end: number): Promise<number> {
  if (generation === ctx.generation) return end;
  const cuts = await logCuts(ctx.store, ctx.scope);
  const begun = cuts.find((cut) => cut.generation === generation)?.number ?? 0;
  const since = cuts.filter(({ number }) => number > begun);
  // An unknown generation that no restore has cut off shares no events with the current one.
  if (since.length === 0) return generation === null ? end : 0;
  return Math.min(end, ...since.map(({ afterSequence }) => afterSequence));
}

function historyChanged(generation: string, after: number): ApiError {
  const fix = `Discard later events, then continue with after=${after}&generation=${generation}.`;
  return new ApiError(
    'history_changed',
    `The log was restored to an earlier state, or never had this event. The log matches your copy up to sequence ${after}. ${fix}`,
    {
      details: [
        { path: 'after', issue: 'conflict', fix, value: String(after) },
        { path: 'generation', issue: 'conflict', fix, value: generation },
      ],
    },
  );
}
