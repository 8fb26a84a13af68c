// Text of the plugin's comments: prediction, confidence, training data and evidence.
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
    'If this is wrong, change the label. The plugin learns from the correction.',
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
  return evidence.length === 0 ? '' : `Evidence: ${evidence.join(', ')}.`;
}

function source(model: Model | undefined, team: string): string {
  if (!model) return 'by general cues, because the team has too few labelled issues to learn from';
  const [bugs, features, questions] = model.learned;
  return `learned from ${bugs + features + questions} labelled issues of ${team}`;
}

function percent(share: number): string {
  return `${Math.min(99, Math.round(share * 100))} %`;
}
