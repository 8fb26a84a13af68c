// The moment that a read asks for, `asOf`: a place in the log, by its sequence or by a time. What is shown of it follows from the log
// alone. docs/spec/api.md › As of.
import { Type, type Static } from 'typebox';
import { isoTime } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { firstSequenceSince, lastSequence, timeOfEvent } from '../../events/log.ts';
import { invalidField } from '../../lib/errors.ts';
import { Closed, described, named, time } from '../../lib/schema.ts';
import { isTime } from '../../lib/time.ts';
import { sequenceToCome, timeToCome } from '../../lib/to-come.ts';

/** The parameter of what can be read as it was. */
export const asOfQuery = {
  asOf: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'As it was at a moment: a sequence of the event log, or an ISO 8601 time. The answer says in `asOf` which sequence it shows.',
    }),
  ),
};

export const AsOf = named(
  'AsOf',
  Closed(
    {
      sequence: Type.Integer({ description: 'The last event of the log that it takes into account.' }),
      at: described(time, 'The time that was asked for, or that event happened at.'),
    },
    { description: 'The moment that an answer shows; absent where it shows now.' },
  ),
);

export interface Moment {
  /** The last event that counts; 0 before the first. */
  readonly sequence: number;
  readonly atMs: number;
}

export function shownMoment({ sequence, atMs }: Moment): Static<typeof AsOf> {
  return { sequence, at: isoTime(atMs) };
}

/** @throws ApiError validation_failed for what is no moment, or has not come yet */
export async function momentOf({ store, scope, nowMs }: Context, given: string): Promise<Moment> {
  if (/^\d{1,15}$/.test(given)) {
    const sequence = Number(given);
    const atMs = sequence === 0 ? 0 : await timeOfEvent(store, scope, sequence);
    if (atMs !== undefined) return { sequence, atMs };
    throw sequenceToCome('asOf', await lastSequence(store, scope));
  }
  if (!isTime(given))
    throw invalidField(
      'asOf',
      'invalid_format',
      'Give a sequence, or an ISO 8601 time such as 2026-11-20T12:00:00Z.',
    );
  const atMs = Date.parse(given);
  if (atMs > nowMs()) throw timeToCome('asOf', given);
  return {
    sequence: (await firstSequenceSince(store, scope, atMs + 1, await lastSequence(store, scope))) - 1,
    atMs,
  };
}
