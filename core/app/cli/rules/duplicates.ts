// Keys that a file gives twice. Bun's YAML parser takes the last of them without an error, so each key is renamed in turn: a
// mapping that then has both names has the key twice.

/** Texts that may be keys, with the quotes around them. */
const keys =
  /(?<=^|[\s{,])(?:(["'])(?<quoted>[^"'\n]+)\1|(?<plain>[^\s"'{}[\],:#&*!|>%@`-][^{}[\],:\n#]*?))(?=[ \t]*:)/gm;

const newName = 'tatami-renamed-key';

interface Found {
  readonly key: string;
  readonly line: number;
  /** Path of the mapping with the key. */
  readonly path: string;
}

/** @param text valid YAML @throws Error naming both lines of the first repeated key */
export function requireUniqueKeys(text: string): void {
  const candidates = [...text.matchAll(keys)].map(({ 0: token, index, groups }) => ({
    ...{ token, index },
    key: groups!.quoted ?? groups!.plain!,
  }));
  const groups = Map.groupBy(candidates, ({ key }) => key).values();
  const found = [...groups].flatMap((group) =>
    group.length < 2 ? [] : group.flatMap((one) => repeatedAt(text, one)),
  );
  for (const [first, second] of Map.groupBy(found, ({ path, key }) => `${path}\0${key}`).values()) {
    if (!first || !second) continue;
    const lines =
      first.line === second.line
        ? `Line ${first.line} has the key twice`
        : `Line ${second.line} repeats the key of line ${first.line}`;
    throw new Error(`${first.path}${first.key}: ${lines}. Keep one of them.`);
  }
}

/** Returns the key at a place of the text if its mapping has another key of the same name. */
function repeatedAt(
  text: string,
  { key, token, index }: { readonly key: string; readonly token: string; readonly index: number },
): Found[] {
  const renamed = text.slice(0, index) + token.replace(key, () => newName) + text.slice(index + token.length);
  const path = pathOfRenamed(parsed(renamed), key);
  return path === null ? [] : [{ key, path, line: text.slice(0, index).split('\n').length }];
}

function parsed(text: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch {
    // The renamed text was no key.
    return null;
  }
}

/** Returns the path of the mapping that has the new name and still the key; null if there is none. */
function pathOfRenamed(value: unknown, key: string, path = ''): string | null {
  if (value === null || typeof value !== 'object') return null;
  if (Object.hasOwn(value, newName)) return Object.hasOwn(value, key) ? path : null;
  for (const [name, one] of Object.entries(value)) {
    const found = pathOfRenamed(one, key, `${path}${name}.`);
    if (found !== null) return found;
  }
  return null;
}
