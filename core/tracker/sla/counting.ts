// How the time of a clock is counted: what it is when it starts, pauses, goes on and ends, and what becomes of it as time passes. Pure: all
// times come from outside, those of events and that of an alarm.
import { addBusinessMs, businessMsBetween, type BusinessWeek } from '../../lib/business-time.ts';
import { dayMs } from '../../lib/time.ts';
import type { ClockState } from './contract.ts';

/** What a policy gives. */
export interface Terms {
  readonly targetMs: number;
  /** So long before, it is at risk. */
  readonly leadMs: number | null;
  /** By whose hours; null: around the clock. */
  readonly week: BusinessWeek | null;
}

export interface Counted {
  readonly state: ClockState;
  readonly startedAt: number;
  readonly dueAt: number | null;
  /** Kept while it is paused, where it was at risk before: it is told once. */
  readonly atRiskAt: number | null;
  /** When it was last started or gone on with. */
  readonly countedFrom: number;
  readonly pausedAt: number | null;
  readonly remainingMs: number | null;
  readonly reachedAt: number | null;
  readonly endedAt: number | null;
}

/** Where a calendar has come to have no hours: as good as never. */
const neverDays = 5 * 366;

const add = ({ week }: Terms, at: number, ms: number): number =>
  week ? (addBusinessMs(week, at, ms) ?? at + neverDays * dayMs) : at + ms;

const between = ({ week }: Terms, from: number, to: number): number =>
  week ? businessMsBetween(week, from, to) : Math.max(0, to - from);

export function started(terms: Terms, at: number, isPaused: boolean): Counted {
  const counted: Counted = {
    state: 'paused',
    startedAt: at,
    dueAt: null,
    atRiskAt: null,
    countedFrom: at,
    pausedAt: at,
    remainingMs: terms.targetMs,
    reachedAt: null,
    endedAt: null,
  };
  return isPaused ? counted : { ...counted, ...resumed(counted, terms, at) };
}

/** Of one that runs or is at risk. A clock that was set back makes no time come back. */
export function paused(counted: Counted, terms: Terms, at: number): Partial<Counted> {
  const { dueAt, state, atRiskAt, countedFrom } = counted;
  const from = Math.max(at, countedFrom);
  return {
    state: 'paused',
    pausedAt: from,
    remainingMs: between(terms, from, dueAt ?? from),
    dueAt: null,
    atRiskAt: state === 'at_risk' ? atRiskAt : null,
  };
}

/** Of one that is paused. */
export function resumed(counted: Counted, terms: Terms, at: number): Partial<Counted> {
  const { remainingMs, atRiskAt, pausedAt } = counted;
  const from = Math.max(at, pausedAt ?? at);
  const left = remainingMs ?? 0;
  const { leadMs } = terms;
  return {
    state: atRiskAt === null ? 'running' : 'at_risk',
    countedFrom: from,
    pausedAt: null,
    remainingMs: null,
    dueAt: add(terms, from, left),
    atRiskAt: atRiskAt ?? (leadMs === null ? null : add(terms, from, Math.max(0, left - leadMs))),
  };
}

/** When it is to be looked at next; null for one that stands still or is over. */
export function ringsAt({ state, atRiskAt, dueAt }: Counted): number | null {
  if (state === 'running') return atRiskAt ?? dueAt;
  return state === 'at_risk' ? dueAt : null;
}

/** The next that has happened to it by the mere passing of time, up to a moment; null where nothing has. */
export function passed(counted: Counted, until: number): Partial<Counted> | null {
  const next = ringsAt(counted);
  if (next === null || next > until) return null;
  const isLate = counted.state === 'at_risk' || counted.atRiskAt === null;
  return { state: isLate ? 'breached' : 'at_risk' };
}

/** What was to happen has happened. */
export function reached(counted: Counted, at: number): Partial<Counted> {
  const over = { reachedAt: at, endedAt: at };
  return counted.state === 'breached' ? over : { ...over, ...stopped, state: 'met' };
}

/** It counts no more. What was breached stays so. */
export function canceled(counted: Counted, at: number): Partial<Counted> {
  return counted.state === 'breached' ? { endedAt: at } : { ...stopped, state: 'canceled', endedAt: at };
}

const stopped = { pausedAt: null, remainingMs: null } satisfies Partial<Counted>;
