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
