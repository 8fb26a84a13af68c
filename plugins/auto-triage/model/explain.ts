// Explains a prediction by the features with the largest contribution. Words, pairs and template lines contribute to
// the score directly; the contribution of a form feature is computed by leaving it out.
import { findCues } from './cues.ts';
import { parseDocument, type Document, type IssueText } from './document.ts';
import { countFeatures, type BlockName } from './features.ts';
import { issueTypes, type IssueType } from './kind.ts';
import type { Predictor } from './predict.ts';
import { structure } from './structure.ts';
import { surfaceForms } from './words.ts';

type Reason = { readonly text: string; readonly pull: number };

const reasonsMax = 4;
/** Contributions below this share of the strongest one are not mentioned. */
const shareMin = 0.15;

export function explain(predictor: Predictor, issue: IssueText, kind: IssueType): string[] {
  const document = parseDocument(issue);
  const at = issueTypes.indexOf(kind) as 0 | 1 | 2;
  const reasons = [...wordReasons(predictor, document, at), ...formReasons(predictor, document, at)].sort(
    (a, b) => b.pull - a.pull,
  );
  const chosen: string[] = [];
  for (const { text, pull } of reasons) {
    if (chosen.length === reasonsMax || pull < (reasons[0]?.pull ?? 0) * shareMin) break;
    if (!chosen.some((other) => overlap(other, text))) chosen.push(text);
  }
  return chosen;
}

function wordReasons(predictor: Predictor, document: Document, at: 0 | 1 | 2): Reason[] {
  const valueOf = new Map<number, number>();
  const { buckets, values } = predictor.vectorOf(document);
  for (const [i, bucket] of buckets.entries())
    valueOf.set(bucket, (valueOf.get(bucket) ?? 0) + (values[i] ?? 0));
  const forms = surfaceForms(`${document.title}\n${document.prose}`);
  const pulls = new Map<string, number>();
  countFeatures(document, (bucket, block, feature) => {
    const text = describe(block, feature, forms);
    if (text === undefined) return;
    const pull = predictor.weightOf(at, bucket) * (valueOf.get(bucket) ?? 0);
    // The same words in several blocks are one reason, and a bucket counted twice is one feature.
    pulls.set(text, Math.max(pulls.get(text) ?? 0, pull));
  });
  return Array.from(pulls, ([text, pull]) => ({ text, pull })).filter(({ pull }) => pull > 0);
}

function formReasons(predictor: Predictor, document: Document, at: 0 | 1 | 2): Reason[] {
  const hits = findCues(document);
  const point = predictor.pointOf(document, hits);
  const distances = predictor.distancesOf(point);
  const score = predictor.formScores(distances)[at];
  return structure(document, hits).flatMap(({ name, value, shown, quote }, column) => {
    if (!shown || value <= 0) return [];
    const own = predictor.columnDistances(point[column] ?? 0, column);
    const without = predictor.columnDistances(0, column);
    const changed = distances.map((distance, i) => distance - (own[i] ?? 0) + (without[i] ?? 0));
    const location = name.endsWith(' in the title') ? ' in the title' : '';
    const text = quote === undefined || !/^\s*[a-z]{2}/.test(quote) ? name : `“${quote.trim()}”${location}`;
    return [{ text, pull: score - predictor.formScores(changed)[at] }];
  });
}

/** Returns undefined for features that do not make sense as a reason: grammar, single function words, code. */
function describe(block: BlockName, feature: string, forms: ReadonlyMap<string, string>): string | undefined {
  if (block === 'template') {
    const [heading, answer] = feature.split(' = ');
    if (!heading) return undefined;
    return answer
      ? `“${heading}: ${answer.slice(0, 60)}” in the template`
      : `the template heading “${heading}”`;
  }
  if (block !== 'titleWords' && block !== 'titlePairs' && block !== 'words' && block !== 'pairs')
    return undefined;
  const words = feature.split(' ');
  if (!words.every((word) => /^[a-z]/.test(word)) || words.every((word) => dullWords.has(word)))
    return undefined;
  const text = words.map((word) => forms.get(word) ?? word).join(' ');
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
