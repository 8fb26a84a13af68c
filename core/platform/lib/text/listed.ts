/** Joins words into a phrase: `a, b and c`; `nothing` if empty. */
export function listed(words: readonly string[], last: 'and' | 'or'): string {
  if (words.length === 0) return 'nothing';
  if (words.length === 1) return words[0]!;
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}
