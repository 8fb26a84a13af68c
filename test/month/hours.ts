// Local days and working hours, found by a search in quarter hours, which differs on purpose from the
// algorithm of the server.
export const minuteMs = 60_000;
const quarterMs = 15 * minuteMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

const formats = new Map<string, Intl.DateTimeFormat>();

interface Wall {
  readonly day: string;
  readonly weekday: string;
  readonly minute: number;
}

function wallOf(zone: string, at: number): Wall {
  let format = formats.get(zone);
  if (!format) {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' };
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      weekday: 'long',
      hourCycle: 'h23',
      ...parts,
    } as object);
    formats.set(zone, format);
  }
  const said = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  return {
    day: `${said.year}-${said.month}-${said.day}`,
    weekday: said.weekday!.toLowerCase(),
    minute: Number(said.hour) * 60 + Number(said.minute),
  };
}

export const dayOf = (zone: string, at: number): string => wallOf(zone, at).day;

/** Returns the first time from `from` on at which the weekday starts in the zone. */
export function dayBegins(zone: string, weekday: string, from: number): number {
  for (let at = Math.ceil(from / quarterMs) * quarterMs; ; at += quarterMs) {
    const wall = wallOf(zone, at);
    if (wall.weekday === weekday && wall.day !== wallOf(zone, at - quarterMs).day) return at;
  }
}

/** Start and end hours of the working day, Monday to Friday. */
export interface Office {
  readonly timeZone: string;
  readonly hours: readonly (readonly [from: number, to: number])[];
  readonly holidays: readonly string[];
}

const isOpenAt = new Map<string, boolean>();

function isOpen(office: Office, quarter: number): boolean {
  const key = `${office.timeZone} ${quarter}`;
  let open = isOpenAt.get(key);
  if (open === undefined) {
    const { day, weekday, minute } = wallOf(office.timeZone, quarter);
    const isFree = weekday.startsWith('s') || office.holidays.includes(day);
    open = !isFree && office.hours.some(([from, to]) => minute >= from * 60 && minute < to * 60);
    isOpenAt.set(key, open);
  }
  return open;
}

/** Returns the time at which so much working time has passed; null for the office counts all time. */
export function afterWork(office: Office | null, from: number, ms: number): number {
  if (!office || ms <= 0) return from + Math.max(0, ms);
  let left = ms;
  for (let at = from; ; at = (Math.floor(at / quarterMs) + 1) * quarterMs) {
    const quarter = Math.floor(at / quarterMs) * quarterMs;
    if (!isOpen(office, quarter)) continue;
    const rest = quarter + quarterMs - at;
    if (left <= rest) return at + left;
    left -= rest;
  }
}

export function workBetween(office: Office | null, from: number, to: number): number {
  if (!office) return Math.max(0, to - from);
  let passed = 0;
  for (let at = from; at < to; at = (Math.floor(at / quarterMs) + 1) * quarterMs) {
    const quarter = Math.floor(at / quarterMs) * quarterMs;
    if (isOpen(office, quarter)) passed += Math.min(quarter + quarterMs, to) - at;
  }
  return passed;
}

export const isoOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
