// What became of an issue's fields after an event: the next change of each that somebody made, and what the run of that day made of them.
import { shownData, type EventRow } from '../../events/event.ts';
import { pageOfSubject, type EventFacts } from '../../events/log.ts';
import { dayMs } from '../../lib/time.ts';
import type { Scope, Store } from '../../store/store.ts';
import { changedBy } from './fields.ts';

/** What people do later than this has other reasons. */
const afterwardsMs = 7 * dayMs;
const pageEvents = 100;
const pagesMax = 20;

export interface Afterwards {
  /** By field: what the next person made of it; a field that nobody touched is not among them. */
  readonly people: ReadonlyMap<string, unknown>;
  /** By field: what the plugin's own run of that event made of it then. */
  readonly run: ReadonlyMap<string, unknown>;
}

/** @param fields that matter @param runId of the run that the installed version made for the event */
export async function afterwardsOf(
  store: Store,
  scope: Scope,
  event: EventRow,
  { issueId, fields, runId }: { issueId: string; fields: readonly string[]; runId: string },
): Promise<Afterwards> {
  const people = new Map<string, unknown>();
  const run = new Map<string, unknown>();
  const untilMs = event.createdAt + afterwardsMs;
  const wants = (one: EventFacts): boolean =>
    one.entityKind === 'issue' && one.entityId === issueId && one.createdAt <= untilMs && !isOf(one, event);
  for (let after = event.sequence, pages = 0; pages < pagesMax; pages++) {
    const page = await pageOfSubject(store, scope, issueId, after, { limit: pageEvents, wants });
    for (const one of page.events) {
      const target = targetOf(one, runId) === 'people' ? people : targetOf(one, runId) === 'run' ? run : null;
      if (target)
        for (const [field, value] of changedBy(shownData(one)))
          if (!target.has(field)) target.set(field, value);
    }
    if (!page.more || fields.every((field) => people.has(field))) break;
    after = page.through;
  }
  return { people, run };
}

/** One commit tells a change by several events. */
function isOf({ requestId }: EventFacts, event: EventRow): boolean {
  return requestId !== null && requestId === event.requestId;
}

function targetOf(event: EventRow, runId: string): 'people' | 'run' | null {
  const { kind } = event.actor;
  if (kind === 'user' || kind === 'api_key' || kind === 'app') return 'people';
  return event.cause.parentRunId === runId ? 'run' : null;
}
