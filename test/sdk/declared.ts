// Reads the text of the generated types, and generates values that they allow.
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { arbitraryOf } from '../api/arbitrary.ts';
import { nowhere } from '../api/seeds.ts';
import { root } from '../imports.ts';

interface Member {
  readonly name: string;
  readonly isOptional: boolean;
  /** The members of the union type. */
  readonly alternatives: readonly string[];
}

/** Reads an interface of the SDK from its text, which is independent of the schemas that generated it. */
export function membersOf(file: string, name: string): Member[] {
  const text = readFileSync(join(root, 'sdk/generated', file), 'utf8');
  const [, body] = new RegExp(`^export interface ${name} \\{\\n(.*?)^\\}`, 'ms').exec(text) ?? [];
  if (body === undefined) throw new Error(`${file} has no interface ${name}.`);
  return splitOutside(body.replaceAll(/\/\*\*.*?\*\//gs, ''), ';').map((member) => {
    const [, called = '', mark, type = ''] = /^(\w+)(\??):(.*)$/s.exec(member) ?? [];
    return { name: called, isOptional: mark === '?', alternatives: splitOutside(type, '|') };
  });
}

/** Splits at the marks that are outside of brackets. */
function splitOutside(text: string, mark: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const one of text) {
    if ('{[(<'.includes(one)) depth++;
    if ('}])>'.includes(one)) depth--;
    if (one === mark && depth === 0) parts.push('');
    else parts[parts.length - 1] += one;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** Returns a value of one union member, within the additional bounds of the schema. */
function valueOf(alternative: string, schema: TSchema): unknown {
  if (alternative === 'null') return null;
  if (alternative === 'undefined') return undefined;
  if (alternative.startsWith("'")) return alternative.slice(1, -1);
  const { enum: words } = schema as TSchema & { enum?: readonly unknown[] };
  if (words) return words[0];
  const isPlain = /^(string|number|boolean)$/.test(alternative);
  const validator = Compile(schema);
  const sample = fc
    .sample(arbitraryOf(schema, [nowhere]), { numRuns: 100, seed: 7 })
    .find(
      (value) =>
        typeof value === (isPlain ? alternative : 'object') && value !== null && validator.Check(value),
    );
  // Parameters are strings in a URL, and some values have a form of their own.
  return sample ?? (alternative.startsWith('readonly ') ? ['id', 'title'] : { title: 'x' });
}

/**
 * Returns values of an object type: the required members, with each union member of each property in turn.
 */
export function valuesOf(members: readonly Member[], schema: TSchema): Readonly<Record<string, unknown>>[] {
  const { properties } = schema as TSchema & { properties: Record<string, TSchema> };
  const needed = Object.fromEntries(
    members
      .filter(({ isOptional }) => !isOptional)
      .map(({ name, alternatives }) => [name, valueOf(alternatives[0]!, properties[name]!)]),
  );
  return members.flatMap(({ name, alternatives }) =>
    alternatives.map((one) => ({ ...needed, [name]: valueOf(one, properties[name]!) })),
  );
}

export const namesOf = (schema: TSchema): string[] =>
  Object.keys((schema as TSchema & { properties: object }).properties);
