// Light English stemmer (plural, -ed, -ing, -ly and some noun endings), so that "crashes", "crashed" and "crashing"
// count as one word.

const vowel = /[aeiouy]/;

/** Returns the stem of a lower-case word; words of up to three letters are unchanged. */
export function stem(word: string): string {
  if (word.length <= 3) return word;
  const w = nounStem(verbStem(singular(word)));
  return w.length > 3 && w.endsWith('e') ? w.slice(0, -1) : w;
}

function singular(w: string): string {
  if (!w.endsWith('s')) return w;
  if (w.endsWith('ies')) return w.slice(0, -3) + 'y';
  if (w.endsWith('sses') || w.endsWith('xes') || w.endsWith('shes') || w.endsWith('ches'))
    return w.slice(0, -2);
  return w.endsWith('ss') || w.endsWith('us') || w.endsWith('is') ? w : w.slice(0, -1);
}

/** Removes -ed, -ing and -ly. */
function verbStem(w: string): string {
  if (w.length > 4 && w.endsWith('ed') && vowel.test(w.slice(0, -2))) return undouble(w.slice(0, -2));
  if (w.length > 5 && w.endsWith('ing') && vowel.test(w.slice(0, -3))) return undouble(w.slice(0, -3));
  return w.length > 5 && w.endsWith('ly') ? w.slice(0, -2) : w;
}

function nounStem(w: string): string {
  if (w.length <= 6) return w;
  if (w.endsWith('ation')) return w.slice(0, -3);
  return w.endsWith('ment') ? w.slice(0, -4) : w;
}

function undouble(w: string): string {
  const last = w.charCodeAt(w.length - 1);
  const doubled = w.length > 3 && last === w.charCodeAt(w.length - 2);
  return doubled && last !== 108 && last !== 115 && last !== 122 ? w.slice(0, -1) : w;
}
