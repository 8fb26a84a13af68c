// Learns priorities from the team's own issues: naive Bayes on the terms of duplicates/terms.ts. The model answers only
// above a margin at which it was right in cross-validation; without such a margin there is no model.
import type { IssueText } from '../model/document.ts';
import { codesOf, termsOf } from '../duplicates/terms.ts';
import type { Priority } from './cues.ts';

export const priorities = ['low', 'medium', 'high', 'urgent'] as const satisfies readonly Priority[];

export type PriorityExample = IssueText & { readonly priority: Priority };

export interface PriorityModel {
  readonly version: typeof priorityModelVersion;
  /** Number of training issues per priority. */
  readonly learned: readonly number[];
  /** Number of training issues per priority that have the term, by code. */
  readonly terms: Readonly<Record<string, readonly number[]>>;
  /** Margin of the best over the second-best score from which the model answers. */
  readonly marginMin: number;
  /** Share of right answers above the margin, in cross-validation. */
  readonly accuracy: number;
}

export interface PriorityAnswer {
  readonly priority: Priority;
  /** Words of the text, strongest first. */
  readonly evidence: readonly string[];
}

/** Raised whenever terms or layout change; models of other versions are ignored. */
export const priorityModelVersion = 1;
const examplesMin = 40;
const perPriorityMin = 5;
/** Terms of fewer training issues are noise. */
const holdersMin = 2;
const folds = 5;
const accuracyMin = 0.7;
/** A model must answer this share of issues, and be better than the most frequent priority by this much. */
const answeredMin = 0.2;
const gainMin = 0.1;
const evidenceMax = 3;

interface Coded {
  readonly codes: readonly number[];
  readonly priority: number;
}
type Counts = Pick<PriorityModel, 'learned' | 'terms'>;

/** @returns undefined if the issues are too few, or their text does not tell the priorities apart */
export function learnPriorities(examples: readonly PriorityExample[]): PriorityModel | undefined {
  const coded = examples.map((example) => ({
    codes: codesOf(termsOf(example)),
    priority: priorities.indexOf(example.priority),
  }));
  const counts = count(coded);
  const frequent = counts.learned.filter((learned) => learned >= perPriorityMin);
  if (coded.length < examplesMin || frequent.length < 2) return undefined;
  const answers = crossValidate(coded).sort((a, b) => b.margin - a.margin);
  const majority = Math.max(...counts.learned) / coded.length;
  let best: { marginMin: number; accuracy: number } | undefined;
  let right = 0;
  for (const [at, { margin, isRight }] of answers.entries()) {
    if (isRight) right++;
    const accuracy = right / (at + 1);
    if (at + 1 >= coded.length * answeredMin && accuracy >= Math.max(accuracyMin, majority + gainMin))
      best = { marginMin: margin, accuracy };
  }
  if (!best) return undefined;
  const terms = Object.entries(counts.terms).filter(([, holders]) => sum(holders) >= holdersMin);
  return {
    version: priorityModelVersion,
    learned: counts.learned,
    terms: Object.fromEntries(terms),
    ...best,
  };
}

/** @returns undefined below the margin */
export function predictPriority(model: PriorityModel, issue: IssueText): PriorityAnswer | undefined {
  const { title, body } = termsOf(issue);
  const words = [...title, ...body];
  const { best, second, margin } = rank(
    model,
    words.map(([code]) => code),
  );
  if (margin < model.marginMin) return undefined;
  const pulls = words
    .map(([code, word]) => ({ word, pull: pullOf(model, code, best) - pullOf(model, code, second) }))
    .filter(({ word, pull }) => pull > 0 && /^\p{L}{2}/u.test(word))
    .sort((a, b) => b.pull - a.pull);
  const evidence = [...new Set(pulls.map(({ word }) => word))].slice(0, evidenceMax);
  return { priority: priorities[best] ?? 'medium', evidence };
}

/** @returns undefined unless `stored` is a model of this version */
export function asPriorityModel(stored: unknown): PriorityModel | undefined {
  const isModel =
    typeof stored === 'object' &&
    stored !== null &&
    'version' in stored &&
    stored.version === priorityModelVersion;
  return isModel ? (stored as PriorityModel) : undefined;
}

function crossValidate(coded: readonly Coded[]): { margin: number; isRight: boolean }[] {
  return Array.from({ length: folds }, (_, fold) => {
    const counts = count(coded.filter((_, i) => i % folds !== fold));
    return coded
      .filter((_, i) => i % folds === fold)
      .map(({ codes, priority }) => {
        const { best, margin } = rank(counts, codes);
        return { margin, isRight: best === priority };
      });
  }).flat();
}

function count(coded: readonly Coded[]): Counts {
  const learned = priorities.map(() => 0);
  const terms: Record<string, number[]> = {};
  for (const { codes, priority } of coded) {
    learned[priority] = (learned[priority] ?? 0) + 1;
    for (const code of codes) {
      const holders = (terms[code] ??= priorities.map(() => 0));
      holders[priority] = (holders[priority] ?? 0) + 1;
    }
  }
  return { learned, terms };
}

function rank(counts: Counts, codes: readonly number[]): { best: number; second: number; margin: number } {
  const all = sum(counts.learned);
  const scores = counts.learned.map((learned, priority) =>
    learned < perPriorityMin
      ? -Infinity
      : Math.log(learned / all) + codes.reduce((total, code) => total + pullOf(counts, code, priority), 0),
  );
  const [best = 0, second = 0] = scores
    .map((_, at) => at)
    .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  return { best, second, margin: (scores[best] ?? 0) - (scores[second] ?? 0) };
}

/** Returns the log of how much more frequent a term is among issues of a priority than on average. */
function pullOf({ learned, terms }: Counts, code: number, priority: number): number {
  const holders = terms[code];
  if (!holders || sum(holders) < holdersMin) return 0;
  const share = sum(holders) / sum(learned);
  return Math.log(((holders[priority] ?? 0) + share) / (((learned[priority] ?? 0) + 1) * share));
}

function sum(numbers: readonly number[]): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
