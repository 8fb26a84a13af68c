// Installs the web globals of a plugin: console, timers, fetch and related classes, text codecs, URL.
import { GuestAbortController, GuestAbortSignal } from './abort.ts';
import { atob, btoa } from './base64.ts';
import { currentRun, sleep, writeLog } from './bridge.ts';
import { fetchIn } from './fetch.ts';
import { GuestHeaders } from './headers.ts';
import { structuredClone } from './structured-clone.ts';
import type { GuestLogLevel } from '../../protocol.ts';
import {
  defineProperty,
  NativePromise,
  NativeTypeError,
  numberOf,
  record,
  stringify,
  stringOf,
} from './primordials.ts';
import { GuestTextDecoder, GuestTextEncoder } from './text-codec.ts';
import { GuestUrl, GuestUrlSearchParams } from './url.ts';

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
