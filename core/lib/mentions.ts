// Whether a text names one of some objects, by the ids that stand in it.
const anyId = /[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}/g;

export type Mentions = (text: string) => boolean;

/** Costs the length of the text, however many ids there are. */
export function mentionsOf(ids: ReadonlySet<string>): Mentions {
  return (text) => {
    for (const [id] of text.matchAll(anyId)) if (ids.has(id)) return true;
    return false;
  };
}
