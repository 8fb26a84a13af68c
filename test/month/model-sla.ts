// The SLA clocks of issues, computed with hours.ts.
import { afterWork, workBetween, minuteMs, type Office } from './hours.ts';
import { finished, type Issue, type StateType } from './model.ts';

export interface Policy {
  readonly name: string;
  readonly kind: 'first_response' | 'resolution';
  readonly passes: (issue: Issue) => boolean;
  targetMinutes: number;
  readonly atRiskMinutes: number | null;
  readonly office: Office | null;
  readonly pausedIn: readonly StateType[];
}

export interface SlaClock {
  readonly policy: Policy;
  readonly startedAt: number;
  state: 'running' | 'paused' | 'at_risk' | 'breached' | 'met' | 'canceled';
  dueAt: number | null;
  atRiskAt: number | null;
  leftMs: number;
  reachedAt: number | null;
  endedAt: number | null;
  /** The emitted event types, in order. */
  readonly emitted: string[];
}

/** Applies the passing of time to the clocks, and returns the notifications. */
export function passTime({ clocks }: Issue, now: number): { readonly reason: 'sla' }[] {
  const before = clocks.reduce((sum, { emitted }) => sum + emitted.length, 0);
  for (const clock of clocks) {
    if (clock.state === 'running' && clock.atRiskAt !== null && clock.atRiskAt <= now) emit(clock, 'at_risk');
    const isDue = clock.dueAt !== null && clock.dueAt <= now;
    if (isDue && (clock.state === 'running' || clock.state === 'at_risk')) emit(clock, 'breached');
  }
  const after = clocks.reduce((sum, { emitted }) => sum + emitted.length, 0);
  return Array.from({ length: after - before }, () => ({ reason: 'sla' }));
}

/** Applies a change of the issue, or a reply, to its clocks. */
export function heed(issue: Issue, policies: readonly Policy[], now: number, isAnswer = false): void {
  for (const kind of ['first_response', 'resolution'] as const) {
    const clock = issue.clocks.find((one) => one.policy.kind === kind && one.endedAt === null);
    if (isAnswer) {
      if (clock && kind === 'first_response') reach(clock, now);
      continue;
    }
    const isOpen = !issue.isDeleted && !finished.includes(issue.state);
    const policy = isOpen ? policies.find((one) => one.kind === kind && one.passes(issue)) : undefined;
    if (clock && clock.policy === policy) {
      pauseOrGoOn(clock, issue.state, now);
      continue;
    }
    if (clock && !issue.isDeleted && issue.state === 'completed') {
      reach(clock, now);
      continue;
    }
    if (clock) cancel(clock, now);
    if (policy && !(kind === 'first_response' && wasAnswered(issue))) start(issue, policy, now);
  }
}

const wasAnswered = ({ isAnswered, clocks }: Issue): boolean =>
  isAnswered ||
  clocks.some(({ policy, reachedAt }) => policy.kind === 'first_response' && reachedAt !== null);

function start(issue: Issue, policy: Policy, now: number): void {
  const clock: SlaClock = {
    ...{
      policy,
      startedAt: now,
      state: 'paused',
      dueAt: null,
      atRiskAt: null,
      reachedAt: null,
      endedAt: null,
    },
    ...{ leftMs: policy.targetMinutes * minuteMs, emitted: [] },
  };
  issue.clocks.push(clock);
  if (!policy.pausedIn.includes(issue.state)) goOn(clock, now);
}

function goOn(clock: SlaClock, now: number): void {
  const { office, atRiskMinutes } = clock.policy;
  clock.dueAt = afterWork(office, now, clock.leftMs);
  clock.state = clock.emitted.includes('at_risk') ? 'at_risk' : 'running';
  if (atRiskMinutes !== null && clock.state === 'running')
    clock.atRiskAt = afterWork(office, now, clock.leftMs - atRiskMinutes * minuteMs);
}

function pauseOrGoOn(clock: SlaClock, state: StateType, now: number): void {
  const pauses = clock.policy.pausedIn.includes(state);
  if (!pauses && clock.state === 'paused') goOn(clock, now);
  if (!pauses || clock.state === 'paused' || clock.state === 'breached') return;
  clock.leftMs = workBetween(clock.policy.office, now, clock.dueAt!);
  clock.state = 'paused';
  clock.dueAt = null;
}

function reach(clock: SlaClock, now: number): void {
  clock.reachedAt = now;
  clock.endedAt = now;
  if (clock.state !== 'breached') emit(clock, 'met');
}

function cancel(clock: SlaClock, now: number): void {
  clock.endedAt = now;
  if (clock.state !== 'breached') clock.state = 'canceled';
}

function emit(clock: SlaClock, what: 'at_risk' | 'breached' | 'met'): void {
  clock.state = what;
  clock.emitted.push(what);
}
