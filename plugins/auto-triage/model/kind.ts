// The three kinds of issues, in the order used by every score triple.

export const issueTypes = ['bug', 'feature', 'question'] as const;
export type IssueType = (typeof issueTypes)[number];
export type Scores = readonly [number, number, number];

/** Returns the index of the largest score; the first among equals. */
export function surest(scores: Scores): 0 | 1 | 2 {
  if (scores[0] >= scores[1] && scores[0] >= scores[2]) return 0;
  return scores[1] >= scores[2] ? 1 : 2;
}
