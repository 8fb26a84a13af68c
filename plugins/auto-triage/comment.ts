// The words of the plugin's comments: what it thinks, how sure it is, from how much, and why.
import type { Prediction } from './model/predict.ts';
import type { Model } from './model/model.ts';

export function labelComment(
  prediction: Prediction,
  evidence: readonly string[],
  model: Model | undefined,
  team: string,
): string {
  return [
    `Labelled **${prediction.kind}** (${percent(prediction.confidence)} sure, ${source(model, team)}).`,
    because(evidence),
    'If that is wrong, change the label: the next learning takes the correction in.',
  ]
    .filter((line) => line !== '')
    .join('\n\n');
}

export function suggestionComment(
  prediction: Prediction,
  evidence: readonly string[],
  model: Model | undefined,
  team: string,
): string {
  return [
    `This may be a **${prediction.kind}** (${percent(prediction.confidence)} sure, ${source(model, team)}), too unsure to label.`,
    because(evidence),
  ]
    .filter((line) => line !== '')
    .join('\n\n');
}

function because(evidence: readonly string[]): string {
  return evidence.length === 0 ? '' : `What speaks for it: ${evidence.join(', ')}.`;
}

function source(model: Model | undefined, team: string): string {
  if (!model) return 'by general cues, as the team has too few labelled issues to learn from';
  const [bugs, features, questions] = model.learned;
  return `learned from ${bugs + features + questions} labelled issues of ${team}`;
}

function percent(share: number): string {
  return `${Math.min(99, Math.round(share * 100))} %`;
}
