// The three kinds an issue can have, in the order in which every score triple lists them.

export const issueKinds = ['bug', 'feature', 'question'] as const;
export type Kind = (typeof issueKinds)[number];
export type Scores = readonly [number, number, number];

/** The index of the largest score; the first of equals. */
export function surest(scores: Scores): 0 | 1 | 2 {
  if (scores[0] >= scores[1] && scores[0] >= scores[2]) return 0;
  return scores[1] >= scores[2] ? 1 : 2;
}
