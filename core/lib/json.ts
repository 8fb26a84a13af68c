// Strict JSON for request bodies: what `JSON.parse` would accept but no honest client sends is refused, because two
// parsers that disagree on it are how checks get bypassed (RFC 8259 §4 on duplicate names, §8.2 on lone surrogates).
import { ApiError } from './errors.ts';

export const jsonDepthMax = 64;
/** Objects, lists and properties; what a list holds beside them is bounded by the length of the text alone. */
export const jsonPartsMax = 20_000;

/** @throws ApiError malformed_request on bad syntax, depth over 64, too many parts, duplicate or `__proto__` names, numbers out of range, lone surrogates, U+0000. */
export function parseJson(text: string, partsMax: number = jsonPartsMax): unknown {
  // Before anything is made of it: a text can cost a hundred times its length in objects.
  scan(text, partsMax);
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('The body is not valid JSON.');
  }
}

/** What is open: a list, or an object with the names it had so far. Most objects have few, and a set is dear. */
interface Open {
  readonly isObject: boolean;
  first: string | null;
  others: Set<string> | null;
}

/** Walks a text that may not be valid JSON, which is found out afterwards. */
function scan(text: string, partsMax: number): void {
  const open: Open[] = [];
  const skip = stringSkipper(text);
  let expectName = false;
  let parts = 0;
  const count = (): void => {
    if (++parts > partsMax)
      throw malformed(
        `The body holds more than ${partsMax} objects, lists and properties. Send less at once.`,
      );
  };
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      const { end, isEscaped, isCoded } = skip(i);
      const inner = open.at(-1);
      const isName = expectName && inner?.isObject;
      if (isName) {
        count();
        note(inner, isEscaped ? decoded(text.slice(i, end)) : text.slice(i + 1, end - 1));
        expectName = false;
      } else if (isCoded) decoded(text.slice(i, end));
      i = end - 1;
    } else if (code === 0x7b || code === 0x5b) {
      count();
      open.push({ isObject: code === 0x7b, first: null, others: null });
      expectName = code === 0x7b;
      if (open.length > jsonDepthMax)
        throw malformed(`The body is nested deeper than ${jsonDepthMax} levels.`);
    } else if (code === 0x7d || code === 0x5d) {
      open.pop();
      expectName = false;
    } else if (code === 0x2c) expectName = open.at(-1)?.isObject ?? false;
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const number = /[-+.\deE]+/y;
      number.lastIndex = i;
      const digits = number.exec(text)![0];
      if (Math.abs(Number(digits)) === Infinity)
        throw malformed(`The number ${digits.slice(0, 40)} is out of range.`);
      i += digits.length - 1;
    }
  }
}

function note(object: Open, name: string): void {
  if (name === '__proto__') throw malformed('A property may not be named __proto__.');
  if (object.first === name || object.others?.has(name))
    throw malformed(`The property ${JSON.stringify(name.slice(0, 80))} appears twice.`);
  if (object.first === null) object.first = name;
  else (object.others ??= new Set()).add(name);
}

/** Finds where strings end by the next quote and the next backslash, each of which is looked for once. */
function stringSkipper(
  text: string,
): (start: number) => { end: number; isEscaped: boolean; isCoded: boolean } {
  const places = { '"': -1, '\\': -1, '\\u': -1 };
  const next = (mark: keyof typeof places, from: number): number => {
    if (places[mark] < from) {
      const at = text.indexOf(mark, from);
      places[mark] = at < 0 ? Infinity : at;
    }
    return places[mark];
  };
  return (start) => {
    for (let at = start + 1, isEscaped = false; ; isEscaped = true) {
      const quote = next('"', at);
      const backslash = next('\\', at);
      if (quote === Infinity) throw malformed('The body is not valid JSON.');
      if (quote < backslash)
        return { end: quote + 1, isEscaped, isCoded: isEscaped && next('\\u', start) < quote };
      at = backslash + 2;
    }
  };
}

function decoded(raw: string): string {
  let content: string;
  try {
    content = JSON.parse(raw) as string;
  } catch {
    throw malformed('The body is not valid JSON.');
  }
  if (!content.isWellFormed()) throw malformed('A text holds half of a surrogate pair.');
  if (content.includes('\0')) throw malformed('A text holds the character U+0000.');
  return content;
}

function malformed(message: string): ApiError {
  return new ApiError('malformed_request', message);
}
