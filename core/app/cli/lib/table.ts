// Columns, and what stands in them in few words.

const named = 3;

/** The first ones, and how many there are beside them. */
export function firstOf(words: readonly string[]): string {
  if (words.length <= named) return words.join(',');
  return `${words.slice(0, named - 1).join(',')} and ${words.length - named + 1} more`;
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
