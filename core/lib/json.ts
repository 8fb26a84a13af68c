// Strict JSON for request bodies: what `JSON.parse` would accept but no honest client sends is refused, because two
// parsers that disagree on it are how checks get bypassed (RFC 8259 §4 on duplicate names, §8.2 on lone surrogates).
import { ApiError } from './errors.ts';

export const jsonDepthMax = 64;

/** @throws ApiError malformed_request on bad syntax, depth over 64, duplicate or `__proto__` names, numbers out of range, lone surrogates, U+0000. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed('The body is not valid JSON.');
  }
  scan(text);
  return value;
}

/** Walks text that is known to be valid JSON. */
function scan(text: string): void {
  const names: (Set<string> | null)[] = [];
  let expectName = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      const end = stringEnd(text, i);
      const raw = text.slice(i, end);
      const content = raw.includes('\\') ? decoded(raw) : raw.slice(1, -1);
      const seen = names.at(-1);
      if (expectName && seen) {
        if (content === '__proto__') throw malformed('A property may not be named __proto__.');
        if (seen.has(content))
          throw malformed(`The property ${JSON.stringify(content.slice(0, 80))} appears twice.`);
        seen.add(content);
        expectName = false;
      }
      i = end - 1;
    } else if (code === 0x7b || code === 0x5b) {
      names.push(code === 0x7b ? new Set() : null);
      expectName = code === 0x7b;
      if (names.length > jsonDepthMax)
        throw malformed(`The body is nested deeper than ${jsonDepthMax} levels.`);
    } else if (code === 0x7d || code === 0x5d) {
      names.pop();
      expectName = false;
    } else if (code === 0x2c) expectName = names.at(-1) !== null;
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const number = /[-+.\deE]+/y;
      number.lastIndex = i;
      const digits = number.exec(text)![0];
      if (!Number.isFinite(Number(digits)))
        throw malformed(`The number ${digits.slice(0, 40)} is out of range.`);
      i += digits.length - 1;
    }
  }
}

function stringEnd(text: string, start: number): number {
  for (let end = start + 1; ; end++) {
    const code = text.charCodeAt(end);
    if (code === 0x5c) end++;
    else if (code === 0x22) return end + 1;
  }
}

function decoded(raw: string): string {
  const content = JSON.parse(raw) as string;
  if (!content.isWellFormed()) throw malformed('A text holds half of a surrogate pair.');
  if (content.includes('\0')) throw malformed('A text holds the character U+0000.');
  return content;
}

function malformed(message: string): ApiError {
  return new ApiError('malformed_request', message);
}
