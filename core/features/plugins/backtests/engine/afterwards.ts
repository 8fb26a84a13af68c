// Finds the changes of an issue's fields after an event: the next change by a person, and the change by the
// plugin's original run for the event.
import { renderData, type EventFacts, type EventRow } from '../../../../kernel/events/event.ts';
import { pageOfSubject } from '../../../../kernel/events/log/log.ts';
import { dayMs } from '../../../../platform/lib/time/time.ts';
import type { Scope, Store } from '../../../../platform/store/store.ts';
import { changedBy } from '../fields.ts';

/** Changes after this time are assumed to be unrelated to the event. */
const afterwardsMs = 7 * dayMs;
const pageEvents = 100;
const pagesMax = 20;

export interface Afterwards {
  /** Next value set by a person, by field; fields that nobody changed are absent. */
  readonly people: ReadonlyMap<string, unknown>;
  /** Value set by the plugin's original run for the event, by field. */
  readonly run: ReadonlyMap<string, unknown>;
}

/**
 * @param fields names of the compared fields; the search ends once people have changed all of them
 * @param runId id of the plugin's original run for the event
 */
export async function afterwardsOf(
  store: Store,
  scope: Scope,
  event: EventRow,
  { issueId, fields, runId }: { issueId: string; fields: readonly string[]; runId: string },
): Promise<Afterwards> {
  const people = new Map<string, unknown>();
  const run = new Map<string, unknown>();
  const untilMs = event.createdAt + afterwardsMs;
  const isRelevant = (one: EventFacts): boolean =>
    one.entityKind === 'issue' && one.entityId === issueId && one.createdAt <= untilMs && !isOf(one, event);
  for (let after = event.sequence, pages = 0; pages < pagesMax; pages++) {
    const page = await pageOfSubject(store, scope, issueId, after, {
      limit: pageEvents,
      matches: isRelevant,
    });
    for (const one of page.events) {
      const target = targetOf(one, runId) === 'people' ? people : targetOf(one, runId) === 'run' ? run : null;
      if (target)
        for (const [field, value] of changedBy(renderData(one)))
          if (!target.has(field)) target.set(field, value);
    }
    if (!page.more || fields.every((field) => people.has(field))) break;
    after = page.through;
  }
  return { people, run };
}

/** True for events of the same request, because one change can emit several events. */
function isOf({ requestId }: EventFacts, event: EventRow): boolean {
  return requestId !== null && requestId === event.requestId;
}

function targetOf(event: EventRow, runId: string): 'people' | 'run' | null {
  const { kind } = event.actor;
  if (kind === 'user' || kind === 'api_key' || kind === 'app') return 'people';
  return event.cause.parentRunId === runId ? 'run' : null;
}
