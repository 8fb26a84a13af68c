// Turns flags and arguments into the values of a request. Every error names its flag and is found before the first request.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseJsonText } from '../../../platform/lib/json/json-fault.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { ageMs, usage } from '../lib/flags.ts';
import { firstOf } from '../lib/table.ts';
import type { Flag, FlagType } from './table/operation.ts';

/** Options of a command, as Commander parsed them. */
export type Options = Readonly<Record<string, unknown>>;

export interface Source {
  /** Folder in which relative paths begin. */
  readonly folder: string;
  readonly nowMs: number;
}

type Reading = (flag: Flag, texts: readonly string[], source: Source) => unknown;

const lastOf = (texts: readonly string[]): string => texts.at(-1) ?? '';

const readings: Readonly<Record<FlagType, Reading>> = {
  text: (flag, texts) => wordOf(flag, lastOf(texts)),
  boolean: (flag, texts) => booleanOf(flag, lastOf(texts)),
  integer: (flag, texts) => numberOf(flag, lastOf(texts)),
  number: (flag, texts) => numberOf(flag, lastOf(texts)),
  time: (_, texts, { nowMs }) => timeOf(lastOf(texts), nowMs),
  json: (flag, texts) => jsonOf(flag, lastOf(texts)),
  list: listOf,
  map: ({ name }, texts) => mapOf(name, texts),
};

/** @param given the option: a text, all texts of a repeatable option, or a boolean @throws CommandError */
export async function valueOf(flag: Flag, given: unknown, source: Source): Promise<unknown> {
  if (typeof given === 'boolean') return given;
  const texts = await Promise.all([given].flat().map((text) => textOf(flag, String(text), source)));
  const isCleared = flag.isNullable === true && ['', 'null'].includes(lastOf(texts));
  return isCleared ? null : readings[flag.type](flag, texts, source);
}

/**
 * Replaces `-` with standard input and `@file` with the content of the file. `@@` stands for `@`, and a text with white space that
 * names no file, such as a comment that begins with a mention, stays.
 */
async function textOf({ name, type }: Flag, text: string, { folder }: Source): Promise<string> {
  if (text === '-') return withoutLastLineEnd(await Bun.stdin.text());
  if (!text.startsWith('@')) return text;
  if (text.startsWith('@@')) return text.slice(1);
  const path = resolve(folder, text.slice(1));
  if (existsSync(path)) return withoutLastLineEnd(readFileSync(path, 'utf8'));
  if (type === 'text' && /\s/.test(text)) return text;
  throw usage(
    `--${name} names the file ${text.slice(1)}, which does not exist. To send a text that begins with @, write @@ instead.`,
  );
}

const withoutLastLineEnd = (text: string): string => text.replace(/\r?\n$/, '');

function booleanOf({ name }: Flag, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw usage(`--${name} must be true or false, not "${text}".`);
}

function numberOf({ name, type }: Flag, text: string): number {
  const number = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(number) && (type === 'number' || Number.isSafeInteger(number))) return number;
  throw usage(`--${name} must be a ${type === 'integer' ? 'whole number' : 'number'}, not "${text}".`);
}

/** Accepts several values in one text, and a JSON array for values with commas. */
function listOf(flag: Flag, texts: readonly string[]): unknown[] {
  if (texts.length === 1 && texts[0]!.startsWith('[')) {
    const list = jsonOf(flag, texts[0]!);
    if (Array.isArray(list)) return list;
  }
  const words = texts.flatMap((text) => text.split(/[,\n]/)).map((word) => word.trim());
  return words.filter((word) => word !== '').map((word) => wordOf(flag, word));
}

/** `severity=high`, repeatable, or a JSON object. @throws CommandError */
export function mapOf(flag: string, texts: readonly string[]): Record<string, unknown> {
  const entries = texts.flatMap((text): [string, unknown][] => {
    if (text.trimStart().startsWith('{')) return Object.entries(jsonOf({ name: flag }, text) as object);
    const at = text.indexOf('=');
    if (at < 1) throw usage(`--${flag} must be name=value or a JSON object, not "${text}".`);
    return [[text.slice(0, at), looseValue(text.slice(at + 1))]];
  });
  return Object.fromEntries(entries);
}

/** A value as JSON where it is JSON, otherwise as text: `high`, `3`, `["a"]`, `"3"`. */
export function looseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function jsonOf({ name }: Pick<Flag, 'name'>, text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (cause) {
    throw usage(`--${name} is not JSON: ${(cause as Error).message}. Pass JSON, or @file with JSON.`, cause);
  }
}

const listedMax = 12;

function wordOf({ name, values }: Flag, word: string): string {
  if (!values || values.includes(word)) return word;
  throw usage(
    `--${name} must be one of ${firstOf(values, listedMax, ', ')}, not "${word}".${didYouMean(word, values)}`,
  );
}

/** `2h` is two hours ago and `+2h` in two hours; all other forms are for the server to read. */
function timeOf(text: string, nowMs: number): string {
  const isAhead = text.startsWith('+');
  const age = ageMs(isAhead ? text.slice(1) : text);
  if (age === undefined) return text;
  return new Date(isAhead ? nowMs + age : nowMs - age).toISOString();
}
