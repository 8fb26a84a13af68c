/** The words of an issue that made the rule answer as it did. */
import { parseDocument, type IssueText } from './document.ts';
import { KINDS, type Kind } from './kind.ts';
import { CUES } from './lexicon.ts';

const REASONS_MAX = 4;

export function explainRule(issue: IssueText, kind: Kind): string[] {
  const { title, prose } = parseDocument(issue);
  const at = KINDS.indexOf(kind);
  const text = `${title}\n${prose}`.toLowerCase();
  return CUES.map((cue) => ({ quote: cue.pattern.exec(text)?.[0] ?? '', votes: cue.votes[at] ?? 0 }))
    .filter(({ votes, quote }) => quote !== '' && votes > 0)
    .sort((a, b) => b.votes - a.votes)
    .slice(0, REASONS_MAX)
    .map(({ quote }) => `“${quote.trim()}”`);
}
