// Resolves the parameter `asOf`, a sequence or a time, to a position in the log (docs/spec/api.md › As of).
import { Type, type Static } from 'typebox';
import { isoTime } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { firstSequenceSince, lastSequence, timeOfEvent } from '../../events/log/log.ts';
import { invalidField, sequenceToCome, timeToCome } from '../../../platform/lib/errors/errors.ts';
import { Closed, described, namedSchema, time } from '../../../platform/lib/schema.ts';
import { isTime } from '../../../platform/lib/time/time.ts';

export const asOfQuery = {
  asOf: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'Moment to read at: a sequence of the event log, or an ISO 8601 time; default now. `asOf` in the response has the sequence.',
    }),
  ),
};

export const AsOf = namedSchema(
  'AsOf',
  Closed(
    {
      sequence: Type.Integer({
        description: 'Sequence of the last event that the response takes into account.',
      }),
      at: described(time, 'Requested time, or time of that event.'),
    },
    { description: 'Moment that the response shows; absent if it shows the current state.' },
  ),
);

export interface Moment {
  /** Sequence of the last event up to the moment; 0 before the first event. */
  readonly sequence: number;
  readonly atMs: number;
}

export function toMomentResponse({ sequence, atMs }: Moment): Static<typeof AsOf> {
  return { sequence, at: isoTime(atMs) };
}

/** @throws ApiError validation_failed for an invalid moment, or one in the future */
export async function momentOf({ store, scope, nowMs }: Context, text: string): Promise<Moment> {
  if (/^\d{1,15}$/.test(text)) {
    const sequence = Number(text);
    const atMs = sequence === 0 ? 0 : await timeOfEvent(store, scope, sequence);
    if (atMs !== undefined) return { sequence, atMs };
    throw sequenceToCome('asOf', await lastSequence(store, scope));
  }
  if (!isTime(text))
    throw invalidField(
      'asOf',
      'invalid_format',
      'Give a sequence, or an ISO 8601 time such as 2026-11-20T12:00:00Z.',
    );
  const atMs = Date.parse(text);
  if (atMs > nowMs()) throw timeToCome('asOf', text);
  return {
    sequence: (await firstSequenceSince(store, scope, atMs + 1, await lastSequence(store, scope))) - 1,
    atMs,
  };
}
