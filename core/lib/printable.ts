// Text of strangers on a terminal: titles, names, reasons and logs may hold escape sequences, which move the cursor, set the
// clipboard or answer in the person's stead, and marks that show the rest of a line backwards (Unicode TR 36 §3.3).

/** C0, DEL and C1, which a terminal obeys; the marks of bidirectional text; the separators that some take for line ends. */
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const controlsButLineEnds =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const controlsButLayout =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** One line, with what must not reach a terminal written as JSON would write it: ␛ is `\u001b`, a line end `\n`. */
export function printable(text: string): string {
  return text.replace(controls, escaped);
}

/** Lines of our own making; only line ends pass. */
export function printableLines(text: string): string {
  return text.replace(controlsButLineEnds, escaped);
}

/** Text of strangers that is kept, such as logs and errors: line ends and tabs pass. */
export function plainText(text: string): string {
  return text.replace(controlsButLayout, unicode);
}

/** Characters that are not seen (Unicode TR 36 §3.3), but for those that join and colour emoji. */
const invisible = /(?!\u200d|[\ufe0e-\ufe0f])[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Text of strangers by which somebody decides: line ends and tabs pass, and nothing is unseen. */
export function visible(text: string): string {
  return plainText(text).replace(invisible, (char) => char.replaceAll(/[^]/g, unicode));
}

/** A copy of plain data in which every string, names of properties included, is `printable`. */
export function printableCopy<T>(value: T): T {
  const copy = (part: unknown): unknown => {
    if (typeof part === 'string') return printable(part);
    if (Array.isArray(part)) return part.map(copy);
    if (part === null || typeof part !== 'object') return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [printable(key), copy(inner)]));
  };
  return copy(value) as T;
}

/** The same value to whoever parses it, and harmless to a terminal. */
export function printableJson(value: unknown): string {
  // What is left of them stands within strings.
  return JSON.stringify(value).replace(controls, unicode);
}

function escaped(char: string): string {
  return char === '\n' ? '\\n' : char === '\t' ? '\\t' : char === '\r' ? '\\r' : unicode(char);
}

function unicode(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
