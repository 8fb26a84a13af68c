// Formats counts and lists as parts of sentences.

/** Formats a count with its noun: `1 team`, `2 teams`. @param what singular noun whose plural adds an s */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Joins words into a phrase: `a, b and c`; `nothing` if empty. */
export function listed(words: readonly string[], last: 'and' | 'or'): string {
  if (words.length === 0) return 'nothing';
  if (words.length === 1) return words[0]!;
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}
