// Fenced blocks of a document, and its examples: commands (`sh`) with their output (`json`, one value for
// each line, or `text`).

export interface Block {
  /** Offset of its text in the document. */
  readonly at: number;
  /** Empty if the block has no language. */
  readonly language: string;
  /** The text after the language, usually a file name. */
  readonly name: string;
  readonly text: string;
}

export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*) ?(.*)\n([^]*?)^```$/gm)].map((match) => {
    const [whole, language = '', name = '', text = ''] = match;
    return { at: match.index + whole.indexOf('\n') + 1, language, name, text };
  });
}

export interface Example {
  readonly typed: string;
  readonly answers: readonly { readonly language: string; readonly text: string }[];
  /** Line of its start in the document. */
  readonly line: number;
}

/** Skips blocks in other languages, and output without a command. */
export function examplesOf(markdown: string): Example[] {
  const examples: { typed: string; answers: { language: string; text: string }[]; line: number }[] = [];
  for (const { at, language, text } of blocksOf(markdown)) {
    const last = examples.at(-1);
    if (language === 'sh')
      examples.push({ typed: text, answers: [], line: markdown.slice(0, at).split('\n').length - 1 });
    else if (last && (language === 'json' || language === 'text')) last.answers.push({ language, text });
  }
  return examples;
}

/**
 * Returns the path and reason of the first difference from the document, which may omit properties of objects
 * and use `…` for any text.
 * @returns null if there is none
 */
export function unlike(expected: unknown, actual: unknown, path = 'answer'): string | null {
  if (typeof expected === 'string')
    return isLike(expected, actual)
      ? null
      : `${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`;
  if (expected === null || typeof expected !== 'object')
    return expected === actual
      ? null
      : `${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`;
  if (actual === null || typeof actual !== 'object' || Array.isArray(expected) !== Array.isArray(actual))
    return `${path} is ${JSON.stringify(actual)}`;
  if (Array.isArray(expected) && expected.length !== (actual as unknown[]).length)
    return `${path} has ${(actual as unknown[]).length} items, not ${expected.length}`;
  for (const [key, value] of Object.entries(expected)) {
    const difference = unlike(value, (actual as Record<string, unknown>)[key], `${path}.${key}`);
    if (difference !== null) return difference;
  }
  return null;
}

/** True if a text matches a pattern in which `…` stands for any text. */
export function isLike(expected: string, actual: unknown): boolean {
  if (typeof actual !== 'string') return expected === '…' && actual !== undefined;
  const parts = expected.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(actual);
}
