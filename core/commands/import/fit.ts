// Brings texts of other trackers within what an issue can hold.

const titleCharsMax = 500;
const descriptionBytesMax = 256 * 1024;

export function fitTitle(text: string): string {
  return fitChars(text, titleCharsMax);
}

export function fitChars(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

export function fitDescription(text: string): string {
  return fitBytes(text, descriptionBytesMax);
}

export function fitBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  const bytes = Buffer.from(text);
  let end = bytesMax - Buffer.byteLength('…');
  // Not within a character: its further bytes are 10xxxxxx.
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return `${bytes.subarray(0, end).toString()}…`;
}

/** The last path segment, upper-cased to a team key; null when nothing is left of it. */
export function teamKeyOf(name: string): string | null {
  const last = name.split('/').at(-1) ?? '';
  const key = last
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .replace(/^[0-9]+/, '')
    .slice(0, 10);
  return key === '' ? null : key;
}
