/** `1 team`, `2 teams`. @param what in the singular, of a word whose plural takes an s */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
