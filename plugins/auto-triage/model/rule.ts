/** What the hand-written cues of the lexicon say about an issue, before anything is learned. */
import type { Document } from './document.ts';
import type { Scores } from './kind.ts';
import { CUES } from './lexicon.ts';

const OPENING_CHARS = 400;

/** Votes for each kind, less their mean; about -10 to 10. A cue in the title counts twice. */
export function ruleScores(document: Document): Scores {
  const title = document.title.toLowerCase();
  const prose = document.prose.toLowerCase().slice(0, 6000);
  const opening = prose.slice(0, OPENING_CHARS);
  const votes: [number, number, number] = [
    document.code.length > 300 ? 1.5 : 0,
    0,
    title.includes('?') ? 3 : 0,
  ];
  for (const cue of CUES) {
    const times =
      (cue.pattern.test(title) ? 2 : 0) +
      (cue.pattern.test(opening) ? 1 : 0) +
      (cue.pattern.test(prose) ? 0.5 : 0);
    if (times === 0) continue;
    for (const kind of [0, 1, 2] as const) votes[kind] += times * cue.votes[kind];
  }
  const mean = (votes[0] + votes[1] + votes[2]) / 3;
  return [votes[0] - mean, votes[1] - mean, votes[2] - mean];
}
