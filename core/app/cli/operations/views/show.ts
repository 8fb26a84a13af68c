// Displays responses: tables and fields for people, JSON for programs.
import { didYouMean } from '../../../../platform/lib/text/words.ts';
import { plainText, printable } from '../../../../platform/lib/text/printable.ts';
import { usage } from '../../lib/flags.ts';
import { fewOf, isAddress, minuteOf, shortened, tableOf } from '../../lib/table.ts';

type Item = Readonly<Record<string, unknown>>;

/**
 * Reads `--fields`.
 * @param text comma-separated paths, such as `identifier,state.name`
 * @param known names of the fields of the response
 * @throws CommandError
 */
export function fieldsOf(text: string, known: readonly string[]): string[] {
  const fields = text.split(',').map((field) => field.trim());
  for (const field of fields) {
    const [name = ''] = field.split('.');
    if (known.includes(name)) continue;
    throw usage(
      `--fields: There is no field "${name}".${didYouMean(name, known)} Fields: ${known.join(', ')}.`,
    );
  }
  return fields;
}

/** Returns the objects with only these fields, by their paths. */
export function chosen(items: readonly unknown[], fields: readonly string[]): Item[] {
  return items.map((item) => Object.fromEntries(fields.map((field) => [field, at(item as Item, field)])));
}

function at(item: Item, path: string): unknown {
  // Chosen fields keep their path as their name.
  if (Object.hasOwn(item, path)) return item[path];
  let value: unknown = item;
  for (const name of path.split('.')) {
    value = Array.isArray(value) ? value.map((one: unknown) => partOf(one, name)) : partOf(value, name);
    if (value === null) return null;
  }
  return value;
}

/** Texts and lists have no named parts, and inherited properties are none of the response. */
function partOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
  return isObject ? ((value as Item)[name] ?? null) : null;
}

const cellWidthMax = 60;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

/** Returns a value on one line: references by their names, times to the minute. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return time.test(value) ? minuteOf(value) : printable(value);
  if (typeof value === 'number') return String(Number.isInteger(value) ? value : Number(value.toFixed(3)));
  if (Array.isArray(value)) return listText(value);
  const { identifier, name, key, id } = value as Item;
  const named = [identifier, name, key, id].find((one) => typeof one === 'string');
  return printable(named === undefined ? JSON.stringify(value) : String(named));
}

const listText = (values: readonly unknown[]): string =>
  values.length === 0 ? '-' : fewOf(values.map(cellOf), ', ');

const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

/** `createdAt` → `CREATED`, `issue.title` → `TITLE` if no other column ends so */
const headingOf = (name: string, names: readonly string[]): string =>
  (names.filter((one) => lastOf(one) === lastOf(name)).length === 1 ? lastOf(name) : name)
    .replace(/(At|_at)$/, '')
    .replaceAll(/([A-Z])/g, ' $1')
    .replaceAll('_', ' ')
    .toUpperCase();

/**
 * Returns the lines of a table.
 * @param isShort true to omit columns without a value
 * @param width of the terminal; the widest column is shortened to fit. Undefined for output to a file or program
 */
export function tableLines(
  items: readonly unknown[],
  columns: readonly string[],
  isShort: boolean,
  width: number | undefined,
): string[] {
  const rows = items.map((item) =>
    columns.map((name) => shortened(cellOf(at(item as Item, name)), cellWidthMax)),
  );
  const used = columns.map((_, index) => !isShort || rows.some((row) => row[index] !== '-'));
  const kept = (row: readonly string[]): string[] => row.filter((_, index) => used[index]);
  return tableOf(fitted([kept(columns.map((name) => headingOf(name, columns))), ...rows.map(kept)], width));
}

const gap = 2;
const cellWidthMin = 12;
/** A part of an id is of no use. */
const isId = (cell: string): boolean => /^[a-z]{3}_[0-9a-z]{26}$/.test(cell);

/** Shortens columns until the rows fit, the widest first. */
function fitted(rows: readonly (readonly string[])[], width: number | undefined): string[][] {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((row) => Bun.stringWidth(row[index]!))),
  );
  const isFixed = widths.map((_, index) => rows.some((row) => isAddress(row[index]!) || isId(row[index]!)));
  let excess = widths.reduce((sum, one) => sum + one + gap, -gap) - (width ?? Infinity);
  while (excess > 0) {
    const flexible = widths.map((one, index) => (isFixed[index] || one <= cellWidthMin ? 0 : one));
    const widest = flexible.indexOf(Math.max(...flexible));
    if (flexible[widest] === 0) break;
    widths[widest]!--;
    excess--;
  }
  return rows.map((row) => row.map((cell, index) => shortened(cell, widths[index]!)));
}

/**
 * Returns the lines of one object: a line per field, then its long texts.
 * @param isShort true to omit fields without a value
 */
export function objectLines(value: unknown, isShort: boolean): string[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [JSON.stringify(value)];
  const entries = Object.entries(value).filter(([, one]) => !isShort || !isEmpty(one));
  const isLong = (one: unknown): one is string => typeof one === 'string' && /\n/.test(one);
  const short = entries
    .filter(([, one]) => !isLong(one))
    .map(([name, one]) => [printable(name), fieldText(one)]);
  const long = entries.flatMap(([name, one]) =>
    isLong(one) ? ['', `${printable(name)}:`, ...indented(one)] : [],
  );
  return [...tableOf(short), ...long];
}

/** Indented, so that no line of a text imitates the output of a command. */
const indented = (text: string): string[] =>
  plainText(text)
    .split('\n')
    .map((line) => `  ${line}`);

function fieldText(value: unknown): string {
  if (typeof value === 'string') return printable(value);
  if (value === null || typeof value !== 'object') return cellOf(value);
  if (isEmpty(value)) return '-';
  if (Array.isArray(value)) return value.map(elementText).join(value.some(isUnnamed) ? '; ' : ', ');
  return elementText(value);
}

/** `Ana (usr_…)`; without a name, `issues 2, completed 1`, and JSON for what is nested. */
function elementText(value: unknown): string {
  if (value === null || typeof value !== 'object') return cellOf(value);
  const { identifier, name, id } = value as Item;
  const named = [identifier, name].find((one) => typeof one === 'string');
  if (named !== undefined)
    return printable(typeof id === 'string' ? `${String(named)} (${id})` : String(named));
  const parts = Object.entries(value);
  if (parts.some(([, part]) => typeof part === 'object' && part !== null))
    return printable(JSON.stringify(value));
  return parts.map(([part, one]) => `${printable(part)} ${cellOf(one)}`).join(', ');
}

const isUnnamed = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !('name' in value || 'identifier' in value);

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (typeof value !== 'object') return false;
  return Object.keys(value).length === 0;
}
