// Derives the priority of an issue from words in it; without such words, from its kind.
import type { IssueType } from '../model/kind.ts';

export type Priority = 'low' | 'medium' | 'high' | 'urgent';

interface Cue {
  readonly priority: Priority;
  /** No nested repetition, so that matching is linear in the text. */
  readonly pattern: RegExp;
}

/** The first match decides. */
const cues: readonly Cue[] = [
  {
    priority: 'urgent',
    pattern:
      /\b(?:data loss|lost data|los(?:es|ing) data|security (?:hole|issue|vulnerability)|vulnerabilit(?:y|ies)|cve-\d{4}-\d{1,7}|remote code execution|(?:production|prod|site|service|server) (?:is )?down|outage|data corruption|corrupts? data)\b/,
  },
  {
    priority: 'high',
    pattern:
      /\b(?:crash(?:es|ed|ing)?|segfaults?|segmentation fault|kernel panic|deadlocks?|memory leaks?|regression|freez(?:es|ing)|unusable|blocker|blocking us|can(?:no|')t (?:start|log ?in|boot|open|save)|(?:fails|failed) to (?:start|boot|build))\b/,
  },
  {
    priority: 'low',
    pattern:
      /\b(?:typos?|cosmetic|nitpick|nice to have|minor|trivial|wording|misspell(?:ed|ing)|low priority)\b/,
  },
];

const usual: Readonly<Record<IssueType, Priority>> = { bug: 'medium', feature: 'low', question: 'low' };
const searchedMax = 4_000;

/** `evidence` is the matched text in quotation marks. */
export function priorityOf(
  { title, description }: { readonly title: string; readonly description: string },
  kind: IssueType,
): { priority: Priority; evidence: string[] } {
  const text = `${title}\n${description.slice(0, searchedMax)}`.toLowerCase();
  for (const { priority, pattern } of cues) {
    const cue = pattern.exec(text)?.[0];
    // A question that mentions a crash does not report one, so only bugs are raised.
    if (cue !== undefined && (priority === 'low' || kind === 'bug'))
      return { priority, evidence: [`“${cue}”`] };
  }
  return { priority: usual[kind], evidence: [] };
}
