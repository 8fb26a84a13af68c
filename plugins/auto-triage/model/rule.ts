// Scores of the hand-written cues of the lexicon.
import type { CueHit } from './cues.ts';
import type { Document } from './document.ts';
import type { Scores } from './kind.ts';

/** Returns the votes for each kind minus their mean; about -10 to 10. A cue in the title counts twice. */
export function ruleScores({ title, code }: Document, hits: readonly CueHit[]): Scores {
  const votes: [number, number, number] = [code.length > 300 ? 1.5 : 0, 0, title.includes('?') ? 3 : 0];
  for (const { cue, title: inTitle, opening, prose } of hits) {
    const times =
      (inTitle === undefined ? 0 : 2) + (opening === undefined ? 0 : 1) + (prose === undefined ? 0 : 0.5);
    if (times === 0) continue;
    for (const kind of [0, 1, 2] as const) votes[kind] += times * cue.votes[kind];
  }
  const mean = (votes[0] + votes[1] + votes[2]) / 3;
  return [votes[0] - mean, votes[1] - mean, votes[2] - mean];
}
