// Tests the change that an event describes, its actor and its time: the parts of a trigger beyond a filter.
import type { EventRow } from '../../kernel/events/event.ts';
import { parseFilter, type FilterFields } from '../../platform/lib/filter/filter.ts';
import {
  createSearched,
  passesOf,
  type Passes,
  type Searched,
} from '../../platform/lib/filter/filter-match.ts';
import { utcToWall } from '../../platform/lib/time/time.ts';
import type { RuleSubscription } from './compile.ts';
import type { Conditions } from './shape.ts';

/** Event with its complete data, and the cached texts of the data. */
interface TestedEvent extends Pick<EventRow, 'actor' | 'createdAt' | 'data'> {
  readonly searched: Searched;
}

export type ChangeTest = (event: TestedEvent) => boolean;

/** Returns the test of a subscription; null if it tests nothing. */
export function changeTestOf(rule: RuleSubscription, fields: FilterFields): ChangeTest | null {
  const { changed, actor, time } = rule;
  const tests: ChangeTest[] = [];
  if (actor) tests.push((event) => isActor(actor, event));
  if (time) tests.push((event) => isWithin(time, event.createdAt));
  if (changed) tests.push(({ data }) => changed.some((field) => hasChanged(data, field)));
  if (rule.from || rule.to) tests.push(transitionOf(rule, fields));
  if (tests.length === 0) return null;
  return (event) => tests.every((test) => test(event));
}

const previousOf = ({ previous }: EventRow['data']): Readonly<Record<string, unknown>> =>
  (previous ?? {}) as Readonly<Record<string, unknown>>;

/** @param field name of a field, or `fields.<key>` of a custom field */
function hasChanged(data: EventRow['data'], field: string): boolean {
  const previous = previousOf(data);
  if (field in previous) return true;
  const [name = '', key] = field.split('.');
  if (key === undefined || !(name in previous)) return false;
  const [before, after] = [previous[name], data[name]] as Record<string, unknown>[];
  return JSON.stringify(before?.[key] ?? null) !== JSON.stringify(after?.[key] ?? null);
}

/**
 * An event matches `from` if the object matched before and does not match now, and `to` if it matches now and
 * did not before; with both, if it matched `from` before and matches `to` now.
 */
function transitionOf({ from, to }: RuleSubscription, fields: FilterFields): ChangeTest {
  const left = from && passesIn(from, fields);
  const entered = to && passesIn(to, fields);
  return ({ data, createdAt, searched }) => {
    // A new object did not match before.
    const isNew = data.previous === undefined;
    const before = { ...data, ...previousOf(data) };
    const was = (passes: Passes): boolean => !isNew && passes(before, createSearched(), createdAt);
    const is = (passes: Passes): boolean => passes(data, searched, createdAt);
    if (left && entered) return was(left) && is(entered);
    if (left) return was(left) && !is(left);
    return is(entered!) && !was(entered!);
  };
}

const passesIn = (filter: object, fields: FilterFields): Passes =>
  passesOf(parseFilter(filter, fields, 'filter', { wasTaken: true }), fields);

function isActor(
  { kinds, ids, not = false }: NonNullable<Conditions['actor']>,
  { actor }: TestedEvent,
): boolean {
  const isKind = kinds === undefined || kinds.some((kind) => kind === actor.kind);
  const isNamed = ids === undefined || ids.some((id) => id === actor.id || id === actor.memberId);
  return (isKind && isNamed) !== not;
}

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** A window such as 22:00 to 06:00 crosses midnight; its days are those on which it starts. */
function isWithin(window: NonNullable<Conditions['time']>, atMs: number): boolean {
  const { from = '00:00', until = '24:00', timeZone = 'UTC' } = window;
  const { hour, minute, weekday } = utcToWall(timeZone, atMs);
  const now = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
  const isLate = from > until && now < until;
  if (from <= until ? now < from || now >= until : now < from && now >= until) return false;
  const today = days[(weekday + (isLate ? 5 : 6)) % 7];
  return window.days === undefined || window.days.some((one) => one === today);
}
