// What the generated types of the SDK say, read from their text, and values that they let through.
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
  /** The parts of its type's union. */
  readonly alternatives: readonly string[];
}

/** What an interface of the SDK says, read from its text: what authors write by, and not the schemas it was printed from. */
export function membersOf(file: string, name: string): Member[] {
  const text = readFileSync(join(root, 'sdk/generated', file), 'utf8');
  const [, body] = new RegExp(`^export interface ${name} \\{\\n(.*?)^\\}`, 'ms').exec(text) ?? [];
  if (body === undefined) throw new Error(`${file} has no interface ${name}.`);
  return splitOutside(body.replaceAll(/\/\*\*.*?\*\//gs, ''), ';').map((member) => {
    const [, called = '', mark, type = ''] = /^(\w+)(\??):(.*)$/s.exec(member) ?? [];
    return { name: called, isOptional: mark === '?', alternatives: splitOutside(type, '|') };
  });
}

/** What stands between the marks, where these are in no brackets. */
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

/** A value of one part of a union, within the bounds that the schema adds to it. */
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
  // Parameters are texts, and take some values as they are.
  return sample ?? (alternative.startsWith('readonly ') ? ['id', 'title'] : { title: 'x' });
}

/** Values of an object's type: what it must have with each part of each member's type in turn. */
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
