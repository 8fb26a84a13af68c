// What subscribers wanted before they were changed. An event means what was wanted when it happened, also where it is read later, or
// again after a crash: so the batch that changes what a subscriber wants keeps what it wanted until then, up to which event, and
// the batch that stores how far the consumer came forgets it. docs/decisions/0026.
import { tenantStatement } from '../store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../store/store.ts';

const keep = tenantStatement(
  'past_wants.keep',
  `INSERT OR IGNORE INTO past_wants (workspace_id, consumer, until_sequence, id, wants_json)
   SELECT :ws, :consumer, coalesce(max(sequence), 0), :id, :wants FROM events WHERE workspace_id = :ws`,
);
const forget = tenantStatement(
  'past_wants.forget',
  'DELETE FROM past_wants WHERE workspace_id = :ws AND consumer = :consumer AND until_sequence <= :through',
);
const list = tenantStatement<{ id: string; until_sequence: number; wants_json: string }>(
  'past_wants.list',
  `SELECT id, until_sequence, wants_json FROM past_wants WHERE workspace_id = :ws AND consumer = :consumer ORDER BY until_sequence`,
);

/** What a subscriber wanted until an event. */
export interface Past<W> {
  readonly id: string;
  /** The last event before the change. */
  readonly until: number;
  readonly wants: W;
}

/** Has to stand before the events of its batch. */
export function keepWantsOp(scope: Scope, consumer: string, id: string, wants: object): Op {
  return tenantOp(scope, keep, { consumer, id, wants: JSON.stringify(wants) });
}

export function forgetWantsOp(scope: Scope, consumer: string, through: number): Op {
  return tenantOp(scope, forget, { consumer, through });
}

/** In the order of the log. */
export async function readPastWants<W>(store: Store, scope: Scope, consumer: string): Promise<Past<W>[]> {
  const rows = await store.read(scope, list, { consumer });
  return rows.map((row) => ({
    id: row.id,
    until: row.until_sequence,
    wants: JSON.parse(row.wants_json) as W,
  }));
}

/** Who listens now, and who listened when an earlier event happened. */
export interface Eras<L> {
  readonly now: L;
  /** Who listened when the event of a sequence happened. */
  at(sequence: number): L;
  /** The last event that was not judged by what is wanted now; 0 where all are. */
  readonly pastUntil: number;
}

/**
 * @param then a subscriber as it was; undefined where its past is of no matter
 * @param listenersOf what is looked up of all subscribers of one time, made when it is first asked for
 */
export function erasOf<S extends { readonly id: string }, W, L>(
  now: readonly S[],
  past: readonly Past<W>[],
  then: (past: Past<W>, now: S | undefined) => S | undefined,
  listenersOf: (subscribers: readonly S[]) => L,
): Eras<L> {
  const current = new Map(now.map((one) => [one.id, one]));
  const ends = [...new Set(past.map(({ until }) => until))].sort((a, b) => a - b);
  const made = new Map<number, L>();
  const subscribersUntil = (end: number): S[] => {
    const of = new Map<string, S | undefined>(current);
    // The latest first, so that the first change after an event has the last word.
    for (const one of past.toReversed()) if (one.until >= end) of.set(one.id, then(one, current.get(one.id)));
    return [...of.values()].filter((one) => one !== undefined);
  };
  const listeners = listenersOf(now);
  const pastUntil = ends.at(-1) ?? 0;
  return {
    now: listeners,
    pastUntil,
    at(sequence) {
      const end = sequence <= pastUntil ? ends.find((one) => sequence <= one) : undefined;
      if (end === undefined) return listeners;
      const known = made.get(end) ?? listenersOf(subscribersUntil(end));
      made.set(end, known);
      return known;
    },
  };
}
