// Accumulates the results of trials, event by event, into the reports of backtests, gates and shadows.
import type { EventRow } from '../../../kernel/events/event.ts';
import { dayMs } from '../../../platform/lib/time/time.ts';
import { short } from '../../../kernel/changes/change.ts';
import type { RunEffect } from '../runs/effects.ts';
import { type Afterwards, type Difference, differencesOf, fieldEffectsOf, isSame } from './comparisons.ts';
import type { Compared, EventWindow, Totals } from './engine.ts';
import type { Agreement, BacktestReport, FieldReport, GateReport, Sampled } from './schema.ts';
import type { Tried } from './world.ts';

/** Limit of effects that the report lists. */
const effectsMax = 500;
const samplesMax = 5;
/** Limit of groups of other effects, and of groups of failures. */
const distinctMax = 100;
/** Limit of effects stored to recognize repetitions. */
const rememberedMax = 200_000;

type Counts = Omit<FieldReport, 'agreement'>;

/**
 * Collects the effects of a version, and compares them with what people and its original runs did.
 * @param afterwardsOf returns the changes that followed the event of an effect
 */
export function createCollector(
  window: Pick<EventWindow, 'sinceMs' | 'untilMs' | 'to'>,
  afterwardsOf: (event: EventRow, effect: RunEffect) => Promise<Afterwards>,
) {
  const comparisons = createComparisons();
  const others = new Map<string, Sampled>();
  const failures = new Map<string, Sampled>();
  const asOfNow = new Map<string, number>();
  const known = new Set<string>();
  const cpu: number[] = [];
  let [calls, refused, failed, repeated] = [0, 0, 0, 0];

  /** False for a repetition: a trial commits nothing, so a plugin may make the same change at every event. */
  const isNew = (effect: RunEffect): boolean => {
    const key = JSON.stringify([effect.id, fieldEffectsOf(effect)]);
    if (known.has(key)) return false;
    if (known.size < rememberedMax) known.add(key);
    return true;
  };

  const addOther = (event: EventRow, effect: RunEffect): void => {
    const values = Object.fromEntries(fieldEffectsOf(effect).map(({ field, wouldBe }) => [field, wouldBe]));
    sampled(others, `${effect.kind} ${effect.action}`, { eventId: event.id, values });
  };

  const addRun = (event: EventRow, tried: Tried): void => {
    cpu.push(tried.cpuMs);
    calls += tried.calls.length;
    refused += tried.calls.filter((code) => code === 'egress_denied').length;
    for (const operation of tried.asOfNow) asOfNow.set(operation, (asOfNow.get(operation) ?? 0) + 1);
    if (!tried.error) return;
    failed++;
    const { code, message } = tried.error;
    sampled(failures, code, { eventId: event.id, message: short(message) }, shapeOf(message));
  };

  return {
    async compare({ event, tried: [tried] }: Compared): Promise<void> {
      addRun(event, tried!);
      for (const effect of tried!.effects)
        if (effect.kind !== 'issue' || effect.action !== 'update') addOther(event, effect);
        else if (isNew(effect)) comparisons.add(event, effect, await afterwardsOf(event, effect));
        else repeated++;
    },
    report: ({ looked, wanted, cut, endedBy }: Totals): BacktestReport => ({
      window: toWindowResponse(window),
      events: { looked, wanted, cut },
      endedBy,
      runs: { total: cpu.length, succeeded: cpu.length - failed, failed },
      ...comparisons.shown(),
      effectsRepeated: repeated,
      others: [...others.values()],
      failures: [...failures.values()],
      asOfNow: [...asOfNow].map(([operation, reads]) => ({ operation, reads })),
      costs: { ...costsOf(cpu, calls, (window.untilMs - window.sinceMs) / dayMs), callsRefused: refused },
    }),
  };
}

function toWindowResponse({ sinceMs, untilMs, to }: Parameters<typeof createCollector>[0]) {
  const iso = (ms: number): string => new Date(ms).toISOString();
  return { since: iso(sinceMs), until: iso(untilMs), toSequence: to };
}

/** Collects effects on issue fields and compares them with the later changes. */
function createComparisons() {
  const fields = new Map<string, Counts>();
  const effects: BacktestReport['effects'][number][] = [];
  let leftOut = 0;
  return {
    add(event: EventRow, effect: RunEffect, { people, run }: Afterwards): void {
      for (const one of fieldEffectsOf(effect)) {
        const { field } = one;
        const counts = fields.get(field) ?? countsOf(field);
        fields.set(field, counts);
        const agreement = agreementOf(one, people);
        counts.wouldChange++;
        counts[agreement]++;
        if (run.has(field)) counts[isSame(one, run.get(field)) ? 'thenSame' : 'thenOther']++;
        if (effects.length === effectsMax) leftOut++;
        else
          effects.push({
            eventId: event.id,
            sequence: event.sequence,
            issueId: effect.id,
            at: new Date(event.createdAt).toISOString(),
            ...one,
            people: agreement,
            peopleMadeIt: people.get(field) ?? null,
            runMadeIt: run.get(field) ?? null,
          });
      }
    },
    shown: () => ({
      fields: [...fields.values()].map(withAgreement).sort((a, b) => b.wouldChange - a.wouldChange),
      effects,
      effectsLeftOut: leftOut,
    }),
  };
}

/** @param cpu CPU time of each run, in milliseconds */
function costsOf(cpu: readonly number[], calls: number, windowDays: number) {
  const days = Math.max(windowDays, 1 / 24);
  const perDay = (sum: number): number => rounded(sum / days);
  const sorted = cpu.toSorted((a, b) => a - b);
  // Nearest-rank method: of two runs, the slower one is the 95th percentile.
  const at = (fraction: number): number => rounded(sorted[Math.ceil(sorted.length * fraction) - 1] ?? 0);
  const cpuMs = cpu.reduce((sum, ms) => sum + ms, 0);
  return {
    calls,
    cpuMs: rounded(cpuMs),
    cpuMsP50: at(0.5),
    cpuMsP95: at(0.95),
    perDay: { runs: perDay(cpu.length), cpuMs: perDay(cpuMs), calls: perDay(calls) },
  };
}

const rounded = (value: number): number => Math.round(value * 100) / 100;

function countsOf(field: string): Counts {
  return { field, wouldChange: 0, same: 0, opposite: 0, nothing: 0, thenSame: 0, thenOther: 0 };
}

function withAgreement(counts: Counts): FieldReport {
  const touched = counts.same + counts.opposite;
  return { ...counts, agreement: touched === 0 ? null : rounded((100 * counts.same) / touched) };
}

function agreementOf(
  one: ReturnType<typeof fieldEffectsOf>[number],
  people: Afterwards['people'],
): Agreement {
  if (!people.has(one.field)) return 'nothing';
  return isSame(one, people.get(one.field)) ? 'same' : 'opposite';
}

/** Replaces ids, numbers and quoted parts, so that messages of the same failure become equal. */
function shapeOf(message: string): string {
  return message.replace(/"[^"]*"|'[^']*'|\b[a-z]{2,4}_[0-9a-z]{20,}\b|\b[A-Z][A-Z0-9]*-\d+\b|\d+/g, '…');
}

/** @param shape distinguishes groups with the same `what` */
function sampled(all: Map<string, Sampled>, what: string, sample: unknown, shape = ''): void {
  // Beyond the limit, samples are grouped by `what` alone: messages without a common form could make one
  // group per run.
  const own = `${what} ${shape}`;
  const key = all.has(own) || all.size < distinctMax ? own : what;
  const entry = all.get(key) ?? { what, count: 0, samples: [] };
  all.set(key, entry);
  entry.count++;
  if (entry.samples.length < samplesMax) entry.samples.push(sample);
}

/** Compares two versions with each other. */
export function createGateComparison() {
  let report: GateReport = { runs: 0, same: 0, different: 0, differences: [] };
  return {
    compare({ event, tried: [old, next] }: Compared): void {
      const fields = differencesOf(old!, next!);
      report = counted(report, fields);
      if (fields.length > 0) report.differences.push(differenceAt(event, fields));
    },
    report: () => report,
  };
}

/** Counts an event on which two versions ran. */
export function counted<Totals extends Pick<GateReport, 'runs' | 'same' | 'different'>>(
  totals: Totals,
  fields: readonly Difference[],
): Totals {
  const { runs, same, different } = totals;
  const isEqual = fields.length === 0;
  return {
    ...totals,
    runs: runs + 1,
    same: isEqual ? same + 1 : same,
    different: isEqual ? different : different + 1,
  };
}

export function differenceAt<Fields>({ id, type, createdAt }: EventRow, fields: Fields) {
  return { eventId: id, type, at: new Date(createdAt).toISOString(), fields };
}
