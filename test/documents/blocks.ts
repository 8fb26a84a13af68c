// The fenced blocks of a document, and its examples: what is typed (`sh`), and what it says (`json`, one for each line of output, or
// `text`).

export interface Block {
  /** Where its text begins in the document. */
  readonly at: number;
  /** Empty where none is given. */
  readonly language: string;
  /** What stands behind the language: mostly the file that it is. */
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
  /** The line of the document where it begins. */
  readonly line: number;
}

/** Blocks of another language, and answers to nothing typed, are not examples. */
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
 * Where an answer is not what the document shows. The document may show less of objects; `…` stands for anything.
 * @returns null where it is
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

/** Whether a text fits one in which `…` stands for any. */
export function isLike(expected: string, actual: unknown): boolean {
  if (typeof actual !== 'string') return expected === '…' && actual !== undefined;
  const parts = expected.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(actual);
}
