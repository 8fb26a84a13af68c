// Text of the plugin's comment: kind, likely duplicates and priority, each with its evidence.
import type { Duplicate } from './duplicates/duplicates.ts';
import type { Scores } from './model/kind.ts';
import type { Prediction } from './model/predict.ts';
import type { PriorityAnswer } from './priority/learned.ts';

export interface KindFinding {
  readonly prediction: Prediction;
  /** True if the confidence suffices to label the issue. */
  readonly isSure: boolean;
  readonly evidence: () => string[];
  /** Number of training issues of each kind; undefined for the rule. */
  readonly learned: Scores | undefined;
}

export interface PriorityFinding extends PriorityAnswer {
  /** True if the priority is set, false if it is suggested. */
  readonly isSet: boolean;
  /** Number of training issues; 0 for general cues. */
  readonly learned: number;
}

interface Findings {
  readonly team: string;
  readonly kind: KindFinding | undefined;
  readonly duplicates: readonly Duplicate[];
  readonly priority: PriorityFinding | undefined;
}

/**
 * Returns an empty text if there is nothing to say. A suggestion by general cues is only added to other findings,
 * because it does not deserve a notification of its own.
 */
export function commentOf({ team, kind, duplicates, priority }: Findings): string {
  if (!kind && duplicates.length === 0 && isMinor(priority)) return '';
  const changed = [...(kind?.isSure ? ['label'] : []), ...(priority?.isSet ? ['priority'] : [])];
  const parts = [
    kind ? kindText(kind, team) : '',
    duplicatesText(duplicates),
    priority ? priorityText(priority, team) : '',
  ].filter((part) => part !== '');
  if (changed.length > 0)
    parts.push(
      `If this is wrong, change the ${changed.join(' or the ')}. The plugin learns from the correction.`,
    );
  return parts.join('\n\n');
}

function isMinor(priority: PriorityFinding | undefined): boolean {
  return !priority || (!priority.isSet && priority.learned === 0);
}

function kindText({ prediction, evidence, learned, isSure }: KindFinding, team: string): string {
  const { kind, confidence } = prediction;
  const basis = `${percent(confidence)} sure, ${source(learned ? sum(learned) : 0, team)}`;
  const answer = isSure
    ? `Labelled **${kind}** (${basis}).`
    : `This may be a **${kind}** (${basis}), too unsure to label.`;
  return [answer, because(evidence())].filter((part) => part !== '').join('\n\n');
}

function duplicatesText(duplicates: readonly Duplicate[]): string {
  if (duplicates.length === 0) return '';
  const lines = duplicates.map(
    ({ identifier, title, score, shared }) =>
      `- ${identifier} ${asText(title)} (${percent(score)} similar; shared words: ${shared.map((word) => `“${word}”`).join(', ')})`,
  );
  return `Possibly a duplicate of:\n\n${lines.join('\n')}`;
}

function priorityText({ priority, evidence, learned, isSet }: PriorityFinding, team: string): string {
  const answer = isSet ? `Priority set to **${priority}**` : `Suggested priority: **${priority}**`;
  const words = evidence.map((word) => (word.startsWith('“') ? word : `“${word}”`));
  return [`${answer} (${source(learned, team)}).`, because(words)].filter((part) => part !== '').join(' ');
}

function because(evidence: readonly string[]): string {
  return evidence.length === 0 ? '' : `Evidence: ${evidence.join(', ')}.`;
}

function source(learned: number, team: string): string {
  return learned === 0
    ? 'by general cues, because the team has too few labelled issues to learn from'
    : `learned from ${learned} labelled issues of ${team}`;
}

/** Shows a title of another issue as code, so that its Markdown and its mentions have no effect. */
function asText(title: string): string {
  return `\`${title.replaceAll('`', "'").slice(0, 120)}\``;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function percent(share: number): string {
  return `${Math.min(99, Math.round(share * 100))} %`;
}
