// Deterministic time and randomness: the clock starts at the run's start and advances only with the host's answers, random numbers
// derive from the run's seed. The same input gives the same run.
import {
  construct,
  defineProperty,
  floor,
  imul,
  max,
  numberOf,
  uncurry,
  charCodeAt,
  stringify,
  NativeRangeError,
} from './harden.ts';

/** Seed of the random numbers; undefined once the generator is initialized. */
let seed: unknown;
let cpuLeft = 0;
let startMs = 0;
let nowMs = 0;
let a = 1;
let b = 2;
let c = 3;
let d = 4;

export function now(): number {
  return nowMs;
}

/** Returns the CPU time that the run had left when this stretch of code began. */
export function cpuLeftMs(): number {
  return cpuLeft;
}

export function setCpuLeft(ms: number): void {
  cpuLeft = ms;
}

/** Advances the clock, never backwards. */
export function advanceTo(elapsedMs: number): void {
  nowMs = max(nowMs, startMs + elapsedMs);
}

export function startClock(atMs: number, seedOfRun: unknown): void {
  startMs = nowMs = numberOf(atMs) || 0;
  seed = seedOfRun ?? '';
}

/** Initializes the generator; lazy, because few runs use random numbers. */
function mixSeed(): void {
  const text = stringify(seed);
  seed = undefined;
  let h = 0x9e3779b9;
  const mix = (): number => {
    for (let i = 0; i < text.length; i++)
      h = imul(h ^ charCodeAt(text, i), 0x85ebca6b) + ((h << 13) | (h >>> 19));
    h = imul(h ^ (h >>> 16), 0xc2b2ae35);
    return (h ^ (h >>> 13)) >>> 0;
  };
  a = mix();
  b = mix();
  c = mix();
  d = mix() | 1;
  for (let i = 0; i < 12; i++) next32();
}

/** Returns the next 32 random bits: sfc32 (Chris Doty-Humphrey, PractRand). */
function next32(): number {
  if (seed !== undefined) mixSeed();
  const t = (((a + b) | 0) + d) | 0;
  d = (d + 1) | 0;
  a = b ^ (b >>> 9);
  b = (c + (c << 3)) | 0;
  c = (c << 21) | (c >>> 11);
  c = (c + t) | 0;
  return t >>> 0;
}

export function random(): number {
  return (next32() * 2097152 + (next32() >>> 11)) / 9007199254740992;
}

/** Returns a UUID version 4 (RFC 9562) derived from the seed. */
function randomUuid(): string {
  const hex = '0123456789abcdef';
  let text = '';
  for (let i = 0; i < 32; i++) {
    if (i === 8 || i === 12 || i === 16 || i === 20) text += '-';
    const nibble = next32() >>> 28;
    text += hex[i === 12 ? 4 : i === 16 ? 8 + (nibble & 3) : nibble];
  }
  return text;
}

export function installClock(): void {
  const NativeDate = Date;
  const toText = uncurry(NativeDate.prototype.toString);
  function GuestDate(...parts: unknown[]): unknown {
    if (!new.target) return toText(construct(NativeDate, [nowMs]) as Date);
    return construct(
      NativeDate,
      parts.length === 0 ? [nowMs] : parts,
      new.target === GuestDate ? NativeDate : new.target,
    );
  }
  defineProperty(GuestDate, 'name', { value: 'Date' });
  defineProperty(GuestDate, 'length', { value: 7 });
  defineProperty(GuestDate, 'prototype', { value: NativeDate.prototype, writable: false });
  defineProperty(NativeDate.prototype, 'constructor', {
    value: GuestDate,
    writable: true,
    configurable: true,
  });
  const statics = { now, parse: NativeDate.parse, UTC: NativeDate.UTC };
  for (const [name, value] of Object.entries(statics))
    defineProperty(GuestDate, name, { value, writable: true, configurable: true });
  defineProperty(globalThis, 'Date', { value: GuestDate, writable: true, configurable: true });
  defineProperty(Math, 'random', { value: random, writable: true, configurable: true });
  const crypto = { randomUUID: randomUuid, getRandomValues: fillRandom };
  defineProperty(globalThis, 'crypto', { value: crypto, writable: true, configurable: true });
}

function fillRandom<T extends ArrayBufferView>(view: T): T {
  if (view.byteLength > 65536)
    throw new NativeRangeError('getRandomValues fills at most 65536 bytes. Call it with smaller arrays.');
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let i = 0; i < bytes.length; i++) bytes[i] = floor(random() * 256);
  return view;
}
