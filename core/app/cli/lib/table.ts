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

/** Lines of columns, each as wide as its widest cell. */
export function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
