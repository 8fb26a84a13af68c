// Formats counts and lists as parts of sentences.

/** Formats a count with its noun: `1 team`, `2 teams`. @param what singular noun whose plural adds an s */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Joins words into a phrase: `a, b and c`; `nothing` if empty. */
export function listed(words: readonly string[], last: 'and' | 'or'): string {
  if (words.length === 0) return 'nothing';
  if (words.length === 1) return words[0]!;
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

/** Folds the letters of all scripts, in composed form (NFC); for names. */
export function foldName(text: string): string {
  const lower = text.toLowerCase();
  return isAscii.test(lower) ? lower : text.normalize('NFC').toLowerCase();
}

/** Folds ASCII letters only, like SQLite's `lower()`, so that lists and subscriptions match equally. */
export function foldCase(text: string): string {
  // For ASCII text, toLowerCase gives the same result many times faster.
  if (isAscii.test(text)) return text.toLowerCase();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x41 && byte <= 0x5a) bytes[at] = byte + 0x20;
  }
  return bytes.toString();
}

// oxlint-disable-next-line no-control-regex
const isAscii = /^[\0-\x7f]*$/;

// Converts names between spellings for types, titles, columns and flags.

/** `stateChanged` → `StateChanged` */
export function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** `list-on-issue` → `listOnIssue` */
export function camel(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `createdAt` → `created_at`, the column that stores the value. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the flag of a setting: `dataDir` → `--data-dir`. */
export function flagOf(setting: string): string {
  return `--${setting.replaceAll(/[A-Z]/g, (upper) => `-${upper.toLowerCase()}`)}`;
}
