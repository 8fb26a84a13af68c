// `btoa` and `atob` (WHATWG Infra § forgiving-base64).
import { errorWithName } from './abort.ts';
import { charCodeAt, fromCharCode, indexOf, slice } from './primordials.ts';

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

const notBase64 = 'The argument of `atob` must be valid base64 (A–Z, a–z, 0–9, `+`, `/`, `=`).';

function invalid(message: string): Error {
  return errorWithName('InvalidCharacterError', message);
}

export function btoa(input: unknown): string {
  const text = `${input as string}`;
  let out = '';
  for (let i = 0; i < text.length; i += 3) {
    let group = 0;
    for (let j = 0; j < 3; j++) {
      const code = i + j < text.length ? charCodeAt(text, i + j) : 0;
      if (code > 0xff) throw invalid('btoa accepts only Latin-1. Encode other text with TextEncoder first.');
      group = (group << 8) | code;
    }
    const have = text.length - i;
    for (let j = 0; j < 4; j++) out += j <= have ? digits[(group >> (18 - 6 * j)) & 63] : '=';
  }
  return out;
}

export function atob(input: unknown): string {
  let text = withoutSpaces(`${input as string}`);
  if (text.length % 4 === 0 && slice(text, -1) === '=')
    text = slice(text, 0, slice(text, -2) === '==' ? -2 : -1);
  if (text.length % 4 === 1) throw invalid(notBase64);
  let out = '';
  let group = 0;
  let bits = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = indexOf(digits, text[i] as string);
    if (digit < 0) throw invalid(notBase64);
    group = ((group << 6) | digit) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += fromCharCode((group >> bits) & 0xff);
  }
  return out;
}

function withoutSpaces(encoded: string): string {
  let text = '';
  for (let i = 0; i < encoded.length; i++)
    if (indexOf(' \t\n\f\r', encoded[i] as string) < 0) text += encoded[i];
  return text;
}
