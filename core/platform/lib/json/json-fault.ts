// Finds the position at which a text stops being JSON. Runs only for texts that `JSON.parse` refused, because its own message names
// no position and quotes the input.

export interface JsonFault {
  /** Index of the first character that does not fit; the length of the text where it ends too early. */
  readonly at: number;
  /** Tokens that JSON allows at this index, as the object of a sentence. */
  readonly expected: string;
}

/** Maximum index searched, about 30 ms of CPU time. A fault after it is reported without its position. */
const searchedMax = 1_000_000;

const value = 'a value';
const firstValue = 'a value or ]';
const firstName = 'a name in double quotes or }';
const nextName = 'a name in double quotes';
const colon = 'a colon';
const end = 'the end of the text';
const words = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

interface Search {
  readonly text: string;
  readonly open: ('{' | '[')[];
  at: number;
  expected: string;
}

/** Returns null for valid JSON, and for a fault after `searchedMax`. */
export function findJsonFault(text: string): JsonFault | null {
  const search: Search = { text, open: [], at: 0, expected: value };
  for (;;) {
    const at = (search.at = behindSpace(text, search.at));
    const { expected } = search;
    if (at > searchedMax) return null;
    if (at >= text.length) return expected === end ? null : { at: text.length, expected };
    const code = text[at]!;
    if (passSeparator(search, code) || passEnd(search, code) || passBeginning(search, code)) continue;
    const fault = passText(search, code);
    if (fault) return fault;
  }
}

function passSeparator(search: Search, code: string): boolean {
  const inner = search.open.at(-1);
  if (code === ':' && search.expected === colon) search.expected = value;
  else if (code === ',' && inner && search.expected === behind(inner))
    search.expected = inner === '{' ? nextName : value;
  else return false;
  search.at++;
  return true;
}

function passEnd(search: Search, code: string): boolean {
  const { open, expected } = search;
  const inner = open.at(-1);
  if (inner === undefined || code !== (inner === '{' ? '}' : ']')) return false;
  if (expected !== (inner === '{' ? firstName : firstValue) && expected !== behind(inner)) return false;
  open.pop();
  search.expected = behind(open.at(-1));
  search.at++;
  return true;
}

function passBeginning(search: Search, code: string): boolean {
  const { expected } = search;
  if ((code !== '{' && code !== '[') || (expected !== value && expected !== firstValue)) return false;
  search.open.push(code);
  search.expected = code === '{' ? firstName : firstValue;
  search.at++;
  return true;
}

/** Reads a name or a scalar value. */
function passText(search: Search, code: string): JsonFault | null {
  const { text, at, expected, open } = search;
  const isName = expected === firstName || expected === nextName;
  const isValue = expected === value || expected === firstValue;
  if (!isValue && !(isName && code === '"')) return { at, expected };
  const next = code === '"' ? passString(text, at) : passed(words, text, at);
  if (typeof next !== 'number') return next;
  if (next === at) return { at, expected };
  search.at = next;
  search.expected = isName ? colon : behind(open.at(-1));
  return null;
}

/** Returns the tokens that may follow a value, as the object of a sentence. */
function behind(inner: '{' | '[' | undefined): string {
  return inner === undefined ? end : inner === '{' ? 'a comma or }' : 'a comma or ]';
}

/** Returns the index after a string, or its fault. */
function passString(text: string, start: number): number | JsonFault {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return { at, expected: 'an escape such as \\n for this control character' };
    if (code !== 0x5c) continue;
    const next = passed(escape, text, at);
    if (next === at) return { at, expected: 'an escape such as \\n or \\u00e9' };
    at = next - 1;
  }
  return {
    at: text.length,
    expected: `a closing double quote (the text begins at ${positionText(text, start)})`,
  };
}

function behindSpace(text: string, from: number): number {
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
  }
}

function passed(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Parses JSON of a file or option. @throws SyntaxError that names the position without quoting the text */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const fault = findJsonFault(text);
    const message = fault
      ? `expected ${fault.expected} at ${positionText(text, fault.at)}`
      : 'it is not valid JSON';
    throw new SyntaxError(message, { cause });
  }
}

/** Formats a position as `line 2, column 5`; both start at 1, columns count characters. */
export function positionText(text: string, at: number): string {
  const before = text.slice(0, at);
  const lines = before.split(/\r\n|\r|\n/);
  return `line ${lines.length}, column ${[...lines.at(-1)!].length + 1}`;
}
