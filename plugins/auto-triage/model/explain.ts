// Explains a prediction by the features with the largest contribution. Words, pairs and template lines contribute to
// the score directly; the contribution of a form feature is computed by leaving it out.
import type { Document } from './document.ts';
import type { BlockName } from './features.ts';
import { issueTypes } from './kind.ts';
import type { Examined, Predictor } from './predict.ts';
import { valueOf } from './vector.ts';
import { surfaceForms } from './words.ts';

type Reason = {
  readonly text: string;
  readonly pull: number;
  /** Block of a feature of words, whose text consists of stems. */
  readonly block?: BlockName;
};

const reasonsMax = 4;
/** Number of reasons that are compared; the others would be contained in one of these. */
const reasonsConsidered = 24;
/** Contributions below this share of the strongest one are not mentioned. */
const shareMin = 0.15;

export function explain(predictor: Predictor, examined: Examined): string[] {
  const at = issueTypes.indexOf(examined.prediction.kind) as 0 | 1 | 2;
  const reasons = [...wordReasons(predictor, examined, at), ...formReasons(predictor, examined, at)].sort(
    (a, b) => b.pull - a.pull,
  );
  const chosen: string[] = [];
  for (const { text, pull } of withSpelling(reasons.slice(0, reasonsConsidered), examined.document)) {
    if (chosen.length === reasonsMax || pull < (reasons[0]?.pull ?? 0) * shareMin) break;
    if (!chosen.some((other) => overlap(other, text))) chosen.push(text);
  }
  return chosen;
}

function wordReasons(predictor: Predictor, { blocks, scales }: Examined, at: 0 | 1 | 2): Reason[] {
  const reasons: Reason[] = [];
  for (const [index, { name, buckets, counts, texts }] of blocks.entries()) {
    if (!texts) continue;
    for (const [i, feature] of texts.entries()) {
      const bucket = buckets[i] as number;
      const weight = predictor.weightOf(at, bucket);
      if (weight <= 0 || !isShown(name, feature)) continue;
      const pull = weight * valueOf(counts[i] as number, predictor.rarityOf(bucket)) * (scales[index] ?? 0);
      if (pull > 0) reasons.push({ text: feature, block: name, pull });
    }
  }
  return reasons;
}

function formReasons(
  { form }: Predictor,
  { measures, point, similarities, formScores }: Examined,
  at: 0 | 1 | 2,
): Reason[] {
  return measures.flatMap(({ name, value, shown, quote }, column) => {
    if (!shown || value <= 0) return [];
    const location = name.endsWith(' in the title') ? ' in the title' : '';
    const text = quote === undefined || !/^\s*[a-z]{2}/.test(quote) ? name : `“${quote.trim()}”${location}`;
    return [{ text, pull: form.pullOf(at, similarities, formScores[at], column, point[column] ?? 0) }];
  });
}

/** Replaces the features of words by their text with the spelling of the issue. */
function withSpelling(reasons: readonly Reason[], { title, prose }: Document): Reason[] {
  const stems = new Set(reasons.flatMap(({ block, text }) => (block === undefined ? [] : text.split(' '))));
  const forms = surfaceForms(`${title}\n${prose}`, stems);
  return reasons.map((reason) =>
    reason.block === undefined ? reason : { ...reason, text: describe(reason.block, reason.text, forms) },
  );
}

/** Returns false for features without content: single function words, numbers and signs. */
function isShown(block: BlockName, feature: string): boolean {
  if (block === 'template') return feature !== '' && !feature.startsWith(' = ');
  const words = feature.split(' ');
  return words.every((word) => /^[a-z]/.test(word)) && !words.every((word) => dullWords.has(word));
}

function describe(block: BlockName, feature: string, forms: ReadonlyMap<string, string>): string {
  if (block === 'template') {
    const [heading, answer] = feature.split(' = ');
    return answer
      ? `“${heading}: ${answer.slice(0, 60)}” in the template`
      : `the template heading “${heading}”`;
  }
  const text = feature
    .split(' ')
    .map((word) => forms.get(word) ?? word)
    .join(' ');
  return block === 'titleWords' || block === 'titlePairs' ? `“${text}” in the title` : `“${text}”`;
}

/** Words without content. Question words are absent, because they are good reasons. */
const dullWords = new Set(
  (
    'a an the of to in on at by for from with as into and or but if then so is are was were be been am it its this that these those ' +
    'there here i me my we our us you your he she they them not no do does did has have had will would can could should may might ' +
    'must just also only still even more than other any some all same each s t urltoken imgtoken'
  ).split(' '),
);

function overlap(a: string, b: string): boolean {
  const [first, second] = [quoted(a), quoted(b)];
  return first.includes(second) || second.includes(first);
}

function quoted(text: string): string {
  return (/“(.*)”/.exec(text)?.[1] ?? text).toLowerCase();
}
