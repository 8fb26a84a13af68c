/** Formats a count with its noun: `1 team`, `2 teams`. @param what singular noun whose plural adds an s */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
