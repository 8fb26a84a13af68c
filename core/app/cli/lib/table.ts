// Columns, and what stands in them in few words.

const named = 3;

/** Three words, or the first two and how many there are beside them. */
export function fewOf(words: readonly string[], separator = ','): string {
  return firstOf(words, words.length > named ? named - 1 : named, separator);
}

/** The first words, and how many there are beside them. */
export function firstOf(words: readonly string[], most: number, separator: string): string {
  const first = words.slice(0, most).join(separator);
  return words.length > most ? `${first} and ${words.length - most} more` : first;
}

/** @param iso a time in UTC */
export function minuteOf(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)}Z`;
}

/** A part of an address is of no use. */
export const isAddress = (cell: string): boolean => /^https?:\/\/\S+$/.test(cell);

/** Shortens a cell, unless it is an address, to a number of columns of a terminal. */
export function shortened(cell: string, widthMax: number): string {
  if (isAddress(cell) || Bun.stringWidth(cell) <= widthMax) return cell;
  let text = '';
  for (const char of cell) {
    if (Bun.stringWidth(text + char) >= widthMax) break;
    text += char;
  }
  return `${text}…`;
}

/** Lines of columns, each as wide as its widest cell. A wide character, as of Chinese, takes two columns of a terminal. */
export function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => Bun.stringWidth(row[at] ?? ''))),
  );
  return rows.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - Bun.stringWidth(cell)))
      .join('  ')
      .trimEnd(),
  );
}
