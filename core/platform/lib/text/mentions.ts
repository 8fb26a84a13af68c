// Tests whether a text contains any id of a set.
const anyId = /[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}/g;

export type Mentions = (text: string) => boolean;

/** Linear in the length of the text, regardless of the number of ids. */
export function mentionsOf(ids: ReadonlySet<string>): Mentions {
  return (text) => {
    for (const [id] of text.matchAll(anyId)) if (ids.has(id)) return true;
    return false;
  };
}
