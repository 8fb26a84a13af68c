// Markdown as HTML on request: `include=bodyHtml` for objects with a `body`.
import { Type, type TObject } from 'typebox';
import { htmlFieldsOf } from '../contract/schemas.ts';
import type { Contract } from '../contract/contract.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { safeHtml } from '../../platform/lib/text/markdown.ts';
import { didYouMean } from '../../platform/lib/text/nearest.ts';
import { inputForm } from '../../platform/lib/schema.ts';

type ResponseFields = Readonly<Record<string, unknown>>;

/** Returns the parameter of the operations that list and get objects. */
export function htmlQueryOf(contract: Contract): TObject['properties'] {
  const names = [...htmlFieldsOf(contract).keys()];
  if (names.length === 0) return {};
  const description = `Optional fields to include, comma-separated: ${names.join(', ')}.`;
  return { include: Type.Optional(Type.String({ maxLength: 100, description, [inputForm]: 'list' })) };
}

/**
 * Returns a function that adds the requested HTML. Must be called before anything is read.
 * @throws ApiError validation_failed
 */
export function includedHtml(
  contract: Contract,
  { include }: { readonly include?: unknown },
): <S>(response: S) => S {
  if (include === undefined) return (response) => response;
  const fields = htmlFieldsOf(contract);
  const names = String(include).split(',');
  const unknown = names.find((name) => !fields.has(name));
  if (unknown !== undefined) {
    const known = [...fields.keys()];
    const fix = `${unknown} cannot be included.${didYouMean(unknown, known)} Choose from ${known.join(', ')}.`;
    throw invalidField('include', 'invalid_enum', fix);
  }
  return (response) => {
    const all: Record<string, unknown> = { ...(response as ResponseFields) };
    for (const name of names) all[name] = safeHtml(String(all[fields.get(name)!] ?? ''));
    return all as typeof response;
  };
}
