// Installs the web globals of a plugin: console, timers, fetch and related classes, text codecs, URL. Polyfills cost too much per
// isolate or differ from the platform (decision 0089).
import { GuestAbortController, GuestAbortSignal, errorWithName } from './web/abort.ts';
import { currentRun, sleep, writeLog } from './bridge.ts';
import { fetchIn } from './web/fetch.ts';
import { GuestHeaders } from './web/headers.ts';
import { structuredClone } from './web/structured-clone.ts';
import type { GuestLogLevel } from '../../protocol.ts';
import {
  defineProperty,
  NativePromise,
  NativeTypeError,
  numberOf,
  record,
  stringify,
  stringOf,
  charCodeAt,
  fromCharCode,
  indexOf,
  slice,
} from './harden.ts';
import { GuestTextDecoder, GuestTextEncoder } from './web/text-codec.ts';
import { GuestUrl, GuestUrlSearchParams } from './web/url.ts';

// `btoa` and `atob` (WHATWG Infra § forgiving-base64).

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

const notBase64 = 'The argument of `atob` must be valid base64 (A–Z, a–z, 0–9, `+`, `/`, `=`).';

function invalid(message: string): Error {
  return errorWithName('InvalidCharacterError', message);
}

function btoa(input: unknown): string {
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

function atob(input: unknown): string {
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

export function installGlobals(): void {
  const log =
    (level: GuestLogLevel) =>
    (...parts: unknown[]) =>
      writeLog(level, describeAll(parts));
  const console = {
    debug: log('debug'),
    log: log('info'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    trace: log('debug'),
  };
  const globals = {
    console,
    setTimeout: (callback: unknown, ms?: unknown, ...args: unknown[]) =>
      startTimer(callback, numberOf(ms) || 0, args, false),
    setInterval: (callback: unknown, ms?: unknown, ...args: unknown[]) =>
      startTimer(callback, numberOf(ms) || 0, args, true),
    clearTimeout: stopTimer,
    clearInterval: stopTimer,
    queueMicrotask: (callback: () => void) => void NativePromise.resolve().then(callback),
    fetch: (input: unknown, init?: unknown) => fetchIn(currentRun(), input, init),
    Headers: GuestHeaders,
    AbortController: GuestAbortController,
    AbortSignal: GuestAbortSignal,
    structuredClone,
    atob,
    btoa,
    URL: GuestUrl,
    URLSearchParams: GuestUrlSearchParams,
    TextEncoder: GuestTextEncoder,
    TextDecoder: GuestTextDecoder,
  };
  for (const [name, value] of Object.entries(globals))
    defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

let timers = record<true>();
let nextTimer = 1;
let timersOf = 0;

function startTimer(callback: unknown, ms: number, args: unknown[], repeat: boolean): number {
  if (typeof callback !== 'function')
    throw new NativeTypeError('The first argument of a timer must be a function.');
  const run = currentRun();
  // Ids restart per run, so that a run gets the same ids in a fresh isolate and in a reused one.
  if (run !== timersOf) {
    timers = record<true>();
    nextTimer = 1;
    timersOf = run;
  }
  const id = nextTimer++;
  timers[id] = true;
  const wait = (): void => {
    const fire = (): void => {
      if (timers[id] !== true) return;
      if (repeat) wait();
      else delete timers[id];
      callback(...args);
    };
    void sleep(run, ms).then(fire);
  };
  wait();
  return id;
}

function stopTimer(id: unknown): void {
  delete timers[stringOf(id)];
}

export function describeAll(parts: unknown[]): string {
  let text = '';
  for (let i = 0; i < parts.length; i++) text += (i === 0 ? '' : ' ') + describe(parts[i]);
  return text;
}

function describe(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'function') return '[function]';
  if (value === null || typeof value !== 'object') return stringOf(value);
  if (value instanceof Error) return stringOf(value.stack ?? value);
  try {
    return stringify(value) ?? '[object]';
  } catch {
    return '[object]';
  }
}
