// The cycles of teams, with their dates, rollovers and daily progress.
import { dayBegins, dayOf, hourMs } from './hours.ts';
import { finished, type Issue, type StateType } from './model.ts';

export interface Rhythm {
  readonly team: string;
  readonly timeZone: string;
  readonly weeks: number;
  readonly startsOn: string;
  readonly cooldownWeeks: number;
  readonly rollsOver: boolean;
}

export interface Cycle {
  readonly team: string;
  readonly number: number;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly days: Map<string, object>;
  /** Issue ids, each with the number of the cycle to which the issue rolled over. */
  readonly rollovers: { readonly issue: string; readonly to: number | null }[];
}

const cycleCount = 12;

export class Cycles {
  readonly all: Cycle[] = [];

  private readonly rhythms: readonly Rhythm[];
  private now: number;

  constructor(rhythms: readonly Rhythm[], now: number) {
    this.rhythms = rhythms;
    this.now = now;
    for (const rhythm of rhythms) {
      let next = now;
      for (let number = 1; number <= cycleCount; number++) {
        const startsAt = begins(rhythm, next);
        const endsAt = weeksLater(rhythm, startsAt, rhythm.weeks);
        this.all.push({ team: rhythm.team, number, startsAt, endsAt, days: new Map(), rollovers: [] });
        next = weeksLater(rhythm, endsAt, rhythm.cooldownWeeks);
      }
    }
  }

  /** Returns the cycles that issues of a team can enter: the active one and the created upcoming ones. */
  open(team: string): Cycle[] {
    const open = this.all.filter((cycle) => cycle.team === team && cycle.endsAt > this.now);
    return open.slice(0, 2);
  }

  retainedCycle(issue: Issue): number | null {
    const cycle = this.all.find(({ team, number }) => team === issue.team && number === issue.cycle);
    return cycle && (finished.includes(issue.state) || cycle.endsAt > this.now) ? cycle.number : null;
  }

  /**
   * Advances hour by hour, which suffices because midnight in all zones of the model falls on a full hour.
   */
  pass(
    to: number,
    issues: ReadonlyMap<string, Issue>,
    goOn: (issue: Issue, to: number | null) => void,
  ): void {
    for (let at = this.now; at < to;) {
      const next = Math.min(to, (Math.floor(at / hourMs) + 1) * hourMs);
      for (const cycle of this.all) {
        if (at >= cycle.startsAt && at < cycle.endsAt) this.noteDay(cycle, at, issues);
        if (at < cycle.endsAt && next >= cycle.endsAt) this.end(cycle, issues, goOn);
      }
      at = next;
    }
    this.now = to;
    for (const cycle of this.all)
      if (to >= cycle.startsAt && to < cycle.endsAt) this.noteDay(cycle, to, issues);
  }

  /** Updates the current progress of active cycles. */
  look(issues: ReadonlyMap<string, Issue>): void {
    for (const cycle of this.all)
      if (this.now >= cycle.startsAt && this.now < cycle.endsAt) this.noteDay(cycle, this.now, issues);
  }

  private noteDay(cycle: Cycle, at: number, issues: ReadonlyMap<string, Issue>): void {
    const inIt = [...issues.values()].filter((issue) => isIn(issue, cycle));
    const of = (types?: readonly StateType[]): Issue[] =>
      types ? inIt.filter(({ state }) => types.includes(state)) : inIt;
    const sides = [of(), of(['started']), of(['completed']), of(['canceled', 'duplicate'])];
    const countsBy = (count: (some: Issue[]) => number): object => {
      const [scope, started, completed, canceled] = sides.map(count);
      return { scope, started, completed, canceled };
    };
    const points = (some: Issue[]): number => some.reduce((sum, { estimate }) => sum + (estimate ?? 0), 0);
    const day = dayOf(this.rhythms.find(({ team }) => team === cycle.team)!.timeZone, at);
    cycle.days.set(day, { day, issues: countsBy((some) => some.length), points: countsBy(points) });
  }

  private end(
    cycle: Cycle,
    issues: ReadonlyMap<string, Issue>,
    goOn: (issue: Issue, to: number | null) => void,
  ): void {
    if (!this.rhythms.find(({ team }) => team === cycle.team)!.rollsOver) return;
    for (const issue of issues.values()) {
      if (!isIn(issue, cycle) || finished.includes(issue.state)) continue;
      goOn(issue, cycle.number + 1);
      cycle.rollovers.push({ issue: issue.id, to: cycle.number + 1 });
    }
  }
}

const isIn = (issue: Issue, { team, number }: Cycle): boolean =>
  issue.team === team && issue.cycle === number && !issue.isDeleted;

const begins = ({ timeZone, startsOn }: Rhythm, from: number): number => dayBegins(timeZone, startsOn, from);

/**
 * Adds weeks by local days, because a week with a clock change is not 7 × 24 hours. The search starts before
 * midnight.
 */
function weeksLater(rhythm: Rhythm, from: number, weeks: number): number {
  let at = from;
  for (let week = 0; week < weeks; week++) at = begins(rhythm, at + 24 * hourMs);
  return at;
}
