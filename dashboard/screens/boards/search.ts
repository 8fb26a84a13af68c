// Search parameters of a board.
export interface BoardSearch {
  /** Identifier of the issue in the side panel. */
  readonly peek?: string;
}

export function boardSearch({ peek }: Readonly<Record<string, unknown>>): BoardSearch {
  return typeof peek === 'string' ? { peek } : {};
}
