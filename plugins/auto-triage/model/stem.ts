// A light English stemmer (plural, -ed, -ing, -ly and a few noun endings), so that "crashes", "crashed" and "crashing"
// count as one word.

const vowel = /[aeiouy]/;

/** The stem of a lower-case word; words of three letters and fewer stay as they are. */
export function stem(word: string): string {
  let w = word;
  if (w.length <= 3) return w;
  if (w.endsWith('sses')) w = w.slice(0, -2);
  else if (w.endsWith('ies')) w = w.slice(0, -3) + 'y';
  else if (w.endsWith('xes') || w.endsWith('shes') || w.endsWith('ches')) w = w.slice(0, -2);
  else if (w.endsWith('s') && !w.endsWith('ss') && !w.endsWith('us') && !w.endsWith('is')) w = w.slice(0, -1);
  if (w.length > 4 && w.endsWith('ed') && vowel.test(w.slice(0, -2))) w = undouble(w.slice(0, -2));
  else if (w.length > 5 && w.endsWith('ing') && vowel.test(w.slice(0, -3))) w = undouble(w.slice(0, -3));
  else if (w.length > 5 && w.endsWith('ly')) w = w.slice(0, -2);
  if (w.length > 6 && w.endsWith('ation')) w = w.slice(0, -3);
  else if (w.length > 6 && w.endsWith('ment')) w = w.slice(0, -4);
  if (w.length > 3 && w.endsWith('e')) w = w.slice(0, -1);
  return w;
}

function undouble(w: string): string {
  const last = w.charCodeAt(w.length - 1);
  const doubled = w.length > 3 && last === w.charCodeAt(w.length - 2);
  return doubled && last !== 108 && last !== 115 && last !== 122 ? w.slice(0, -1) : w;
}
