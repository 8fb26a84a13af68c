// `TextEncoder` and `TextDecoder` (WHATWG Encoding § 9.1), for UTF-8 only.
import {
  NativeRangeError,
  NativeTypeError,
  NativeUint8Array,
  charCodeAt,
  fromCharCode,
  slice,
} from '../harden.ts';

export class GuestTextEncoder {
  get encoding(): string {
    return 'utf-8';
  }

  encode(input: unknown = ''): Uint8Array {
    const text = `${input as string}`;
    const out = new NativeUint8Array(text.length * 3);
    let at = 0;
    for (let i = 0; i < text.length; i++) {
      const code = codePointAt(text, i);
      if (code > 0xffff) i++;
      at = writeCodePoint(out, at, code >= 0xd800 && code <= 0xdfff ? 0xfffd : code);
    }
    return out.slice(0, at);
  }
}

function codePointAt(text: string, index: number): number {
  const high = charCodeAt(text, index);
  if (high < 0xd800 || high > 0xdbff || index + 1 >= text.length) return high;
  const low = charCodeAt(text, index + 1);
  return low >= 0xdc00 && low <= 0xdfff ? (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000 : high;
}

function writeCodePoint(out: Uint8Array, at: number, code: number): number {
  if (code < 0x80) {
    out[at] = code;
    return at + 1;
  }
  const tail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out[at] = (tail === 1 ? 0xc0 : tail === 2 ? 0xe0 : 0xf0) | (code >> (6 * tail));
  for (let i = 1; i <= tail; i++) out[at + i] = 0x80 | ((code >> (6 * (tail - i))) & 0x3f);
  return at + tail + 1;
}

export class GuestTextDecoder {
  readonly #fatal: boolean;
  readonly #keepMark: boolean;

  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const name = `${label as string}`.trim().toLowerCase();
    if (name !== 'utf-8' && name !== 'utf8')
      throw new NativeRangeError(`The encoding ${name} is not supported. Use utf-8.`);
    this.#fatal = options.fatal === true;
    this.#keepMark = options.ignoreBOM === true;
  }

  get encoding(): string {
    return 'utf-8';
  }

  decode(input?: ArrayBufferView | ArrayBuffer): string {
    if (input === undefined) return '';
    const bytes =
      input instanceof ArrayBuffer
        ? new NativeUint8Array(input)
        : new NativeUint8Array(input.buffer, input.byteOffset, input.byteLength);
    const text = this.#decodeAll(bytes);
    return !this.#keepMark && charCodeAt(text, 0) === 0xfeff ? slice(text, 1) : text;
  }

  #decodeAll(bytes: Uint8Array): string {
    let text = '';
    for (let at = 0; at < bytes.length;) {
      const [code, size] = readCodePoint(bytes, at);
      if (code < 0 && this.#fatal)
        throw new NativeTypeError(
          'The data is not valid UTF-8. Decode it without `fatal`, or pass valid UTF-8.',
        );
      text +=
        code > 0xffff
          ? fromCharCode(0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff))
          : fromCharCode(code < 0 ? 0xfffd : code);
      at += size;
    }
    return text;
  }
}

/** Range of lead bytes of a sequence, number of following bytes, and range of the first of these (Unicode § 3.9, table 3-7). */
interface Lead {
  readonly first: number;
  readonly last: number;
  readonly tail: number;
  readonly low: number;
  readonly high: number;
}

const leads: readonly Lead[] = [
  { first: 0xc2, last: 0xdf, tail: 1, low: 0x80, high: 0xbf },
  { first: 0xe0, last: 0xe0, tail: 2, low: 0xa0, high: 0xbf },
  { first: 0xe1, last: 0xec, tail: 2, low: 0x80, high: 0xbf },
  { first: 0xed, last: 0xed, tail: 2, low: 0x80, high: 0x9f },
  { first: 0xee, last: 0xef, tail: 2, low: 0x80, high: 0xbf },
  { first: 0xf0, last: 0xf0, tail: 3, low: 0x90, high: 0xbf },
  { first: 0xf1, last: 0xf3, tail: 3, low: 0x80, high: 0xbf },
  { first: 0xf4, last: 0xf4, tail: 3, low: 0x80, high: 0x8f },
];

function leadOf(byte: number): Lead | undefined {
  for (let i = 0; i < leads.length; i++) {
    const lead = leads[i] as Lead;
    if (byte >= lead.first && byte <= lead.last) return lead;
  }
  return undefined;
}

/** Returns the code point (-1 for a maximal ill-formed subpart) and the number of bytes read. */
function readCodePoint(bytes: Uint8Array, at: number): [code: number, size: number] {
  const first = bytes[at] as number;
  if (first < 0x80) return [first, 1];
  const lead = leadOf(first);
  if (lead === undefined) return [-1, 1];
  let { low, high } = lead;
  let code = first & (0x3f >> lead.tail);
  for (let i = 1; i <= lead.tail; i++) {
    const next = bytes[at + i] ?? 0;
    if (next < low || next > high) return [-1, i];
    code = (code << 6) | (next & 0x3f);
    low = 0x80;
    high = 0xbf;
  }
  return [code, lead.tail + 1];
}
