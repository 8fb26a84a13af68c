/** Where the cues of the lexicon stand in a document: found once, read by the form and by the rule. */
import type { Document } from './document.ts';
import { CUES, type Cue } from './lexicon.ts';

/** What matched, in lower case; undefined where nothing did. */
export type CueHit = {
  readonly cue: Cue;
  readonly title: string | undefined;
  readonly opening: string | undefined;
  readonly prose: string | undefined;
};

const PROSE_CHARS_MAX = 6000;
const OPENING_CHARS = 300;

/** Every cue in the order of the lexicon, found or not. */
export function findCues({ title, prose }: Document): CueHit[] {
  const titleLow = title.toLowerCase();
  const proseLow = prose.slice(0, PROSE_CHARS_MAX).toLowerCase();
  const opening = proseLow.slice(0, OPENING_CHARS);
  return CUES.map((cue) => {
    const inProse = cue.pattern.exec(proseLow)?.[0];
    return {
      cue,
      title: cue.pattern.exec(titleLow)?.[0],
      opening: inProse === undefined ? undefined : cue.pattern.exec(opening)?.[0],
      prose: inProse,
    };
  });
}
