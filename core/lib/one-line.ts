// Titles and names are one line in which every character can be seen: lists, mail, terminals and logs show them in one line, and marks
// that turn the text around make a title read as another one (Unicode TR 36 §3.3). They are normalized on every write.
import type { TSchema } from 'typebox';
import { invalidField } from './errors.ts';
import { oneLine } from './schema.ts';
import { unseen } from './shown-name.ts';

const lineBreaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
const allUnseen = new RegExp(unseen.source, 'gu');
/** Most titles; nothing of them has to be looked at further. */
const plain = /^[ -~]*$/;
/** Tags (U+E0020 to U+E007F) behind a black flag are the flags of England, Scotland and Wales, which people see. */
const flag = /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,8}\u{e007f}/gu;

/** Line breaks and tabs become a space, unseen characters go. */
export function inOneLine(text: string): string {
  if (plain.test(text)) return text;
  const cleaned = (part: string): string => part.replaceAll(allUnseen, '');
  const line = text.replaceAll(lineBreaks, (breaks, at: number) =>
    at === 0 || at + breaks.length === text.length ? '' : ' ',
  );
  let [shown, after] = ['', 0];
  for (const { 0: found, index } of line.matchAll(flag)) {
    shown += cleaned(line.slice(after, index)) + found;
    after = index + found.length;
  }
  return shown + cleaned(line.slice(after));
}

/** Places of such texts in a value. */
interface Places {
  readonly isLine: boolean;
  readonly below: readonly (readonly [name: string, places: Places])[];
  readonly items: Places | null;
}

/**
 * Normalizes such texts of a valid value in place; null for a schema that has none. The function throws ApiError validation_failed for a
 * text of which nothing is seen.
 */
export function normalizerOf(schema: TSchema): ((value: unknown) => void) | null {
  const places = placesOf(schema);
  return places && ((value) => void normalized(places, value, ''));
}

function placesOf(schema: TSchema): Places | null {
  const { properties, items, anyOf, [oneLine]: isLine = false } = schema as SchemaParts;
  // One of them is null where a value is nullable; no union has branches that differ in this.
  const branches = (anyOf ?? []).flatMap((branch) => placesOf(branch) ?? []);
  const below = Object.entries(properties ?? {}).flatMap(([name, property]): [string, Places][] => {
    const places = placesOf(property);
    return places ? [[name, places]] : [];
  });
  const places = {
    isLine: isLine || branches.some((branch) => branch.isLine),
    below: [...below, ...branches.flatMap((branch) => branch.below)],
    items: (items && placesOf(items)) ?? branches.find((branch) => branch.items)?.items ?? null,
  };
  return places.isLine || places.below.length > 0 || places.items ? places : null;
}

interface SchemaParts {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
  readonly [oneLine]?: true;
}

function normalized(places: Places, value: unknown, path: string): unknown {
  if (typeof value === 'string') return places.isLine ? seenLine(value, path) : value;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const { items } = places;
    if (items) for (const [at, item] of value.entries()) value[at] = normalized(items, item, `${path}.${at}`);
    return value;
  }
  const parts = value as Record<string, unknown>;
  for (const [name, below] of places.below)
    if (Object.hasOwn(parts, name))
      parts[name] = normalized(below, parts[name], path === '' ? name : `${path}.${name}`);
  return value;
}

/** @throws ApiError validation_failed */
function seenLine(text: string, path: string): string {
  const line = inOneLine(text);
  if (line.trim() !== '') return line;
  throw invalidField(path, 'invalid_format', 'Give text that can be seen: letters, digits, signs or emoji.');
}
