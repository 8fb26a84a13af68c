// Returns the words of an issue that led to the rule's answer.
import { parseDocument, type IssueText } from './document.ts';
import { issueTypes, type IssueType } from './kind.ts';
import { lexicon } from './lexicon.ts';

const reasonsMax = 4;

export function explainRule(issue: IssueText, kind: IssueType): string[] {
  const { title, prose } = parseDocument(issue);
  const at = issueTypes.indexOf(kind);
  const text = `${title}\n${prose}`.toLowerCase();
  return lexicon
    .map((cue) => ({ quote: cue.pattern.exec(text)?.[0] ?? '', votes: cue.votes[at] ?? 0 }))
    .filter(({ votes, quote }) => quote !== '' && votes > 0)
    .sort((a, b) => b.votes - a.votes)
    .slice(0, reasonsMax)
    .map(({ quote }) => `“${quote.trim()}”`);
}
