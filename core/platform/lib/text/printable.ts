// Escapes untrusted text for terminals and shells: titles, names and logs may contain escape sequences that move the cursor, set the
// clipboard or send input, and bidirectional marks that reverse a line (Unicode TR 36 §3.3).

/** C0, DEL and C1 controls, bidirectional marks, and separators that some programs treat as line ends. */
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const controlsButLineEnds =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const controlsButLayout =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Returns one line with control characters escaped as in JSON: ␛ is `\u001b`, a line end `\n`. */
export function printable(text: string): string {
  return text.replace(controls, escaped);
}

/** Escapes multi-line output of Tatami; line ends pass. */
export function printableLines(text: string): string {
  return text.replace(controlsButLineEnds, escaped);
}

/** Escapes untrusted text that is stored, such as logs and errors; line ends and tabs pass. */
export function plainText(text: string): string {
  return text.replace(controlsButLayout, unicode);
}

/** Invisible characters (Unicode TR 36 §3.3), except those that join and color emoji. */
const invisible = /(?!\u200d|[\ufe0e-\ufe0f])[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Escapes untrusted text that a decision depends on: line ends and tabs pass, invisible characters become visible. */
export function visible(text: string): string {
  return plainText(text).replace(invisible, (char) => char.replaceAll(/[^]/g, unicode));
}

/** Returns a copy of plain data with every string and property name `printable`. */
export function printableCopy<T>(value: T): T {
  const copy = (part: unknown): unknown => {
    if (typeof part === 'string') return printable(part);
    if (Array.isArray(part)) return part.map(copy);
    if (part === null || typeof part !== 'object') return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [printable(key), copy(inner)]));
  };
  return copy(value) as T;
}

/** Returns JSON that is safe for a terminal and parses to the same value. */
export function printableJson(value: unknown): string {
  // After JSON.stringify, remaining controls are inside strings.
  return JSON.stringify(value).replace(controls, unicode);
}

/** Quotes a word for a shell if necessary. */
export function quoted(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function escaped(char: string): string {
  return char === '\n' ? '\\n' : char === '\t' ? '\\t' : char === '\r' ? '\\r' : unicode(char);
}

function unicode(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
