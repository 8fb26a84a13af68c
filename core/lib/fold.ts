// Letters without their case, so that people need not know how something was written.

/** Names of things: all letters of all scripts, however they are composed. */
export function foldName(text: string): string {
  const lower = text.toLowerCase();
  return isAscii.test(lower) ? lower : text.normalize('NFC').toLowerCase();
}

/** Texts: ASCII only, as SQLite's lower() does, so that a list and a subscription agree. */
export function foldCase(text: string): string {
  // For ASCII alone the language's own folding does the same, many times as fast.
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
