// Order of what the palette finds.

/** True if each word of the input begins a word of the label. */
export function matches(label: string, input: string): boolean {
  const words = label.toLowerCase().split(/[\s:]+/);
  return input
    .toLowerCase()
    .split(/\s+/)
    .every((part) => words.some((word) => word.startsWith(part)));
}

interface Found<T> {
  /** Commands that match the input. */
  readonly commands: readonly T[];
  readonly objects: readonly T[];
  /** Identifiers of the issues among the objects. */
  readonly identifiers: readonly (string | null)[];
}

/** Returns commands before objects, because few words begin a command; an exact identifier comes first. */
export function ordered<T>(input: string, { commands, objects, identifiers }: Found<T>) {
  const isExact = identifiers.some((one) => one?.toLowerCase() === input.toLowerCase());
  const groups = [
    { value: 'commands', items: commands } as const,
    { value: 'objects', items: objects } as const,
  ];
  return (isExact ? groups.toReversed() : groups).filter(({ items }) => items.length > 0);
}
