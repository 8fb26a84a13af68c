// Response examples of the document, recorded while every operation runs once, with stable ids. A recorded example that
// is still valid is not replaced, so that an API change changes only the affected examples.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import type { Json } from '../app.ts';

const file = join(import.meta.dir, '../../core/kernel/http/openapi/generated/examples.json');

export type Examples = Readonly<Record<string, Json>>;

export function readExamples(): Examples {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** @param schemas schema of every example to write */
export function writeExamples(recorded: Examples, schemas: ReadonlyMap<string, TSchema>): void {
  const storedExamples = readExamples();
  const isSound = (name: string, schema: TSchema): boolean =>
    name in storedExamples && Check(schema, storedExamples[name]);
  const examples = [...schemas].map(([name, schema]) => [
    name,
    isSound(name, schema) ? storedExamples[name] : recorded[name],
  ]);
  writeFileSync(file, JSON.stringify(Object.fromEntries(examples)));
  Bun.spawnSync([process.execPath, 'fmt', '--no-script', file]);
}

/** Turns a response into an example: ids and addresses are stable across recordings, lists and texts are shortened. */
export function plain(answer: Json, addresses: Readonly<Record<string, string>>): Json {
  const ids = new Map<string, string>();
  const textOf = (text: string): string => {
    let said = text;
    for (const [from, to] of Object.entries(addresses)) said = said.replaceAll(from, to);
    said = said
      .replaceAll(/\b([a-z]{3})_([0-9a-z]{10})[0-9a-z]{16}\b/g, (id, prefix: string, time: string) =>
        sameFor(id, (count) => `${prefix}_${time}${letters(`${prefix}${count}`, 16)}`),
      )
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (id) =>
        sameFor(id, (count) => `0192f0c1-7c00-7000-8000-00000000000${count}`),
      )
      .replaceAll(/\bttm_[0-9A-Za-z]+_[0-9A-Za-z]+/g, 'ttm_8k2m4x7q9v_EXAMPLEexampleEXAMPLEexampleEXAMPLEex')
      .replaceAll(/(\/join\/)[\w-]{43}/g, '$1EXAMPLEexampleEXAMPLEexampleEXAMPLEexampleEX')
      .replaceAll(/\bwhsec_[0-9A-Za-z+/=]+/g, 'whsec_EXAMPLEexampleEXAMPLEexampleEXAMPLEexam');
    return said.length > longestText ? `${said.slice(0, longestText)}…` : said;
  };
  const sameFor = (id: string, make: (count: number) => string): string => {
    const known = ids.get(id) ?? make(ids.size + 1);
    ids.set(id, known);
    return known;
  };
  const of = (value: Json): Json => {
    if (typeof value === 'string') return textOf(value);
    if (Array.isArray(value)) return value.slice(0, longestList).map(of);
    if (typeof value === 'number') return Math.round(value * 100) / 100;
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries<Json>(value).map(([key, inner]) => [key, fixed[key]?.(inner) ?? of(inner)]),
    );
  };
  return of('pageInfo' in answer ? { ...answer, data: answer.data.slice(0, 1) } : answer);
}

const longestText = 1000;
const longestList = 3;

/** Properties with a different value in every recording, by name; undefined leaves the value as it is. */
const fixed: Readonly<Record<string, (value: Json) => Json>> = {
  endCursor: (value) => (value === null ? undefined : 'AVm3c5Rk1uYy0nq9bXJvZ2Vzc2l2ZQ'),
  prefix: () => '8k2m4x7q9v',
  date: () => 'Fri, 20 Nov 2026 12:00:00 GMT',
  generation: () => '9f3c1a7be2d84c06',
};

function letters(seed: string, length: number): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  const bytes = createHash('sha256').update(seed).digest();
  return [...bytes.subarray(0, length)].map((byte) => alphabet[byte % alphabet.length]).join('');
}
