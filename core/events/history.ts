// Which history of the log a reader stands in. A restore begins another one: up to its cut both are the same, and behind it a sequence
// means another event. So a place in the log is a sequence and a generation, and who stands in what is no more is told where to go
// on. docs/spec/events.md › After a restore.
import type { Context } from '../context.ts';
import { ApiError } from '../lib/errors.ts';
import { logCuts } from '../store/installation.ts';
import { lastSequence } from './log.ts';

/** A place in the log as a reader gives it. */
export interface GivenPlace {
  /** Null of an event that is in no history that is known here. */
  readonly sequence: number | null;
  /** Of the history it was read in; null where the reader does not say. */
  readonly generation: string | null;
}

/**
 * The sequence to go on after.
 * @throws ApiError history_changed where the place is behind a cut, or behind the end of the log
 */
export async function placeIn(ctx: Context, { sequence, generation }: GivenPlace): Promise<number> {
  const end = await lastSequence(ctx.store, ctx.scope);
  const isOfNow = generation === null || generation === ctx.generation;
  if (isOfNow && sequence !== null && sequence <= end) return sequence;
  const common = await commonUntil(ctx, generation, end);
  if (sequence !== null && sequence <= common) return sequence;
  throw historyChanged(ctx.generation, common);
}

/** The last event that the history of a reader has in common with the one of now. */
async function commonUntil(ctx: Context, generation: string | null, end: number): Promise<number> {
  if (generation === ctx.generation) return end;
  const cuts = await logCuts(ctx.store, ctx.scope);
  const begun = cuts.find((cut) => cut.generation === generation)?.number ?? 0;
  const since = cuts.filter(({ number }) => number > begun);
  // Of a history that nobody knows, and that no restore has left: nothing is known to be the same.
  if (since.length === 0) return generation === null ? end : 0;
  return Math.min(end, ...since.map(({ afterSequence }) => afterSequence));
}

function historyChanged(generation: string, after: number): ApiError {
  const fix = `Take back what you have of later events, then read on with after=${after}&generation=${generation}.`;
  return new ApiError(
    'history_changed',
    `The log was restored to an earlier state, or never had that event: up to sequence ${after} it is the one that you read. ${fix}`,
    {
      details: [
        { path: 'after', issue: 'conflict', fix, value: String(after) },
        { path: 'generation', issue: 'conflict', fix, value: generation },
      ],
    },
  );
}
