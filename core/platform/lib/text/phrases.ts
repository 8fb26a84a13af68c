// Formats counts, sizes and lists as parts of sentences.

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

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats a size with binary units: `1536` → `1.5 KiB`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
