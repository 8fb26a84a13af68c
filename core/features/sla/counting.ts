// Arithmetic of SLA clocks: start, pause, resume, end, and the effect of passing time. The functions are
// pure: times are arguments, from events or from a timer.
import {
  addBusinessMs,
  businessMsBetween,
  type BusinessWeek,
} from '../../platform/lib/time/business-time.ts';
import { dayMs } from '../../platform/lib/time/time.ts';
import type { ClockState } from './contract.ts';

export interface SlaTerms {
  readonly targetMs: number;
  /** Warning time before the due time; null for none. */
  readonly leadMs: number | null;
  /** Working hours; null to count around the clock. */
  readonly week: BusinessWeek | null;
}

export interface Counted {
  readonly state: ClockState;
  readonly startedAt: number;
  readonly dueAt: number | null;
  /**
   * Time at which the clock becomes at risk; a pause does not clear it for a clock that is at risk, so that
   * the risk is not reported twice.
   */
  readonly atRiskAt: number | null;
  /** Time at which the clock was last started or resumed. */
  readonly countedFrom: number;
  readonly pausedAt: number | null;
  readonly remainingMs: number | null;
  readonly reachedAt: number | null;
  readonly endedAt: number | null;
}

/** Days until the due time if the working hours of the calendar would need more than five years. */
const neverDays = 5 * 366;

const add = ({ week }: SlaTerms, at: number, ms: number): number =>
  week ? (addBusinessMs(week, at, ms) ?? at + neverDays * dayMs) : at + ms;

const between = ({ week }: SlaTerms, from: number, to: number): number =>
  week ? businessMsBetween(week, from, to) : Math.max(0, to - from);

export function started(terms: SlaTerms, at: number, isPaused: boolean): Counted {
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

/** Pauses a clock that is running or at risk. If the system clock was set back, no time is regained. */
export function paused(counted: Counted, terms: SlaTerms, at: number): Partial<Counted> {
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

export function resumed(counted: Counted, terms: SlaTerms, at: number): Partial<Counted> {
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

/** Returns the time at which the clock changes without an event; null for a clock that is paused or ended. */
export function firesAt({ state, atRiskAt, dueAt }: Counted): number | null {
  if (state === 'running') return atRiskAt ?? dueAt;
  return state === 'at_risk' ? dueAt : null;
}

/** Returns the first change without an event until a moment; null for none. */
export function passed(counted: Counted, until: number): Partial<Counted> | null {
  const next = firesAt(counted);
  if (next === null || next > until) return null;
  const isLate = counted.state === 'at_risk' || counted.atRiskAt === null;
  return { state: isLate ? 'breached' : 'at_risk' };
}

/** Ends a clock whose target was reached. */
export function reached(counted: Counted, at: number): Partial<Counted> {
  const over = { reachedAt: at, endedAt: at };
  return counted.state === 'breached' ? over : { ...over, ...stopped, state: 'met' };
}

/** Ends a clock without result. A breached clock stays breached. */
export function canceled(counted: Counted, at: number): Partial<Counted> {
  return counted.state === 'breached' ? { endedAt: at } : { ...stopped, state: 'canceled', endedAt: at };
}

const stopped = { pausedAt: null, remainingMs: null } satisfies Partial<Counted>;
