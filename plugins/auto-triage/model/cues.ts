// Finds the cues of the lexicon in a document, once for both the form and the rule.
import type { Document } from './document.ts';
import { lexicon, type Cue } from './lexicon.ts';

/** Matched text in lower case; undefined without a match. */
export type CueHit = {
  readonly cue: Cue;
  readonly title: string | undefined;
  readonly opening: string | undefined;
  readonly prose: string | undefined;
};

const proseCharsMax = 6000;
const openingChars = 300;

/** Returns every cue in lexicon order, matched or not. */
export function findCues({ title, prose }: Document): CueHit[] {
  const titleLow = title.toLowerCase();
  const proseLow = prose.slice(0, proseCharsMax).toLowerCase();
  const opening = proseLow.slice(0, openingChars);
  return lexicon.map((cue) => {
    const inProse = cue.pattern.exec(proseLow)?.[0];
    return {
      cue,
      title: cue.pattern.exec(titleLow)?.[0],
      opening: inProse === undefined ? undefined : cue.pattern.exec(opening)?.[0],
      prose: inProse,
    };
  });
}
