// Part of the event log between two times. Its ends are found by a binary search over the sequences, so a page costs the
// same at any age of the log.
import { Type } from 'typebox';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { readTime } from '../../../platform/lib/time/time.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import type { EventFacts } from '../event.ts';
import { firstSequenceSince, lastSequence } from './log.ts';

export const rangeQuery = {
  since: Type.Optional(
    Type.String({ maxLength: 40, description: 'Only events at or after this time, RFC 3339.' }),
  ),
  until: Type.Optional(
    Type.String({ maxLength: 40, description: 'Only events before this time, RFC 3339.' }),
  ),
};

export interface RangeQuery {
  readonly since?: string;
  readonly until?: string;
}

interface LogRange {
  /** Sequence before the first one of the range. */
  readonly after: number;
  /** Last sequence of the range. */
  readonly through: number;
  /** Excludes events of the range with a time outside of it, which a clock that was set back causes. */
  has(event: EventFacts): boolean;
}

const wholeLog: LogRange = { after: 0, through: Number.MAX_SAFE_INTEGER, has: () => true };

/** @throws ApiError validation_failed */
export async function rangeOf(
  { store, scope }: { readonly store: Store; readonly scope: Scope },
  { since, until }: RangeQuery,
): Promise<LogRange> {
  if (since === undefined && until === undefined) return wholeLog;
  const sinceMs = since === undefined ? -Infinity : readTime(since, 'since');
  const untilMs = until === undefined ? Infinity : readTime(until, 'until');
  if (untilMs < sinceMs)
    throw invalidField('until', 'too_small', {
      why: '`until` is before `since`.',
      fix: 'Send an `until` at or after `since`.',
    });
  const end = await lastSequence(store, scope);
  const beforeTime = async (timeMs: number): Promise<number> =>
    (await firstSequenceSince(store, scope, timeMs, end)) - 1;
  return {
    after: since === undefined ? 0 : await beforeTime(sinceMs),
    through: until === undefined ? end : await beforeTime(untilMs),
    has: ({ createdAt }) => createdAt >= sinceMs && createdAt < untilMs,
  };
}
