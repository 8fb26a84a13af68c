// Custom field values of issues: stored by field id, written and shown by key. Values of a deleted field stay
// stored, since the field may be restored.
import type { Entry } from '../../kernel/contract/contract.ts';
import type { Directory } from '../../kernel/context.ts';
import { ApiError, invalidField, type Wrong } from '../../platform/lib/errors/errors.ts';
import { foldName, didYouMean } from '../../platform/lib/text/words.ts';
import { isDay } from '../../platform/lib/time/time.ts';
import { member } from '../people/contract.ts';
import { idOfName, type Naming } from '../../kernel/resource/names/names.ts';
import type { field, FieldValue } from './contract.ts';

/** Values by field id. */
export type FieldValues = Readonly<Record<string, FieldValue>>;
type FieldEntry = Entry<typeof field>;

const textMax = 2_000;
/** Maximum length of the stored JSON in characters, including values of deleted fields. */
const valuesMax = 32 * 1024;
/** Maximum absolute value of a number; integers above 2^53 are not exact. */
export const numberMax = 1e15;

const nothing: Record<string, FieldValue> = {};

/** Omits values of deleted fields. */
export function toFieldsResponse(
  values: FieldValues | null,
  { fields }: Directory,
): Record<string, FieldValue> {
  if (values === null) return nothing;
  const response: Record<string, FieldValue> = {};
  for (const [id, value] of Object.entries(values)) {
    const field = fields.get(id);
    if (field) response[field.key] = value;
  }
  return response;
}

export function toStoredFields(
  response: Readonly<Record<string, FieldValue>> | null | undefined,
  { fields }: Directory,
): FieldValues | null {
  const values = [...fields.values()].flatMap(({ id, key }) => {
    const value = response?.[key];
    return value === undefined ? [] : [[id, value] as const];
  });
  return values.length === 0 ? null : Object.fromEntries(values);
}

interface Writing {
  readonly ctx: Naming;
  readonly teamId: string;
  /** Current values of the issue; undefined for a creation. */
  readonly before: FieldValues | null | undefined;
  /** Prefix of the paths in errors, such as `issues.3.` */
  readonly at: string;
  /** True for a template, where required fields may be empty. */
  readonly isDraft?: true;
}

/** Returns the new values of the issue; undefined if nothing changes. @throws ApiError validation_failed */
export function fieldsAfter(
  writing: Writing,
  input: Readonly<Record<string, FieldValue | null>> | undefined,
): FieldValues | null | undefined {
  const { ctx, before, at, isDraft } = writing;
  if (before === undefined) requireAll(writing, input ?? nothing);
  if (input === undefined) return undefined;
  const after: Record<string, FieldValue> = { ...before };
  for (const [key, value] of Object.entries(input)) {
    const path = `${at}fields.${key}`;
    const field = fieldOf(writing, key, path);
    const read = isEmpty(value)
      ? null
      : readValue({ ctx, field, input: value, before: after[field.id], path });
    if (read !== null) after[field.id] = read;
    else {
      if (!isDraft) requireOptional(field, path);
      delete after[field.id];
    }
  }
  const ids = Object.keys(after);
  if (JSON.stringify(after).length > valuesMax)
    throw invalidField(`${at}fields`, 'too_long', `Give at most ${valuesMax / 1024} KiB of values.`);
  return ids.length === 0 ? null : after;
}

/** @throws ApiError validation_failed (required) */
function requireOptional({ required, archived }: FieldEntry, path: string): void {
  if (required && !archived)
    throw invalidField(path, 'required', { why: 'The field is required.', fix: 'Give a value.' });
}

/** Returns the values that an issue of the team can be given now, by key. */
export function stillTaken(ctx: Naming, teamId: string, values: FieldValues): Record<string, FieldValue> {
  const taken: Record<string, FieldValue> = {};
  for (const [id, value] of Object.entries(values)) {
    const field = ctx.directory.fields.get(id);
    if (field && isOf(field, teamId) && isTaken(ctx, field, value)) taken[field.key] = value;
  }
  return taken;
}

/** Filters values to required fields. */
export function requiredOf(
  { fields }: Directory,
  values: Readonly<Record<string, FieldValue>>,
): Record<string, FieldValue> {
  const required = new Set([...fields.values()].flatMap((field) => (field.required ? field.key : [])));
  return Object.fromEntries(Object.entries(values).filter(([key]) => required.has(key)));
}

function isTaken(ctx: Naming, field: FieldEntry, value: FieldValue): boolean {
  try {
    readValue({ ctx, field, input: value, before: undefined, path: field.key });
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

const isEmpty = (value: FieldValue | null): value is null =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** @throws ApiError validation_failed (required) */
function requireAll({ ctx, teamId, at }: Writing, input: object): void {
  for (const field of ctx.directory.fields.values())
    if (field.required && !field.archived && isOf(field, teamId) && !Object.hasOwn(input, field.key))
      throw invalidField(`${at}fields.${field.key}`, 'required', 'Give a value: the field is required.');
}

const isOf = ({ teamId }: FieldEntry, issueTeam: string): boolean => teamId === null || teamId === issueTeam;

/**
 * Returns a field of the team, or one whose value the issue has from another team.
 * @throws ApiError validation_failed (unknown_field)
 */
function fieldOf({ ctx, teamId, before }: Writing, key: string, path: string): FieldEntry {
  const known: string[] = [];
  for (const field of ctx.directory.fields.values()) {
    if (!isOf(field, teamId) && !(before && field.id in before)) continue;
    if (field.key === key) return field;
    known.push(field.key);
  }
  throw invalidField(path, 'unknown_field', {
    why: `Issues of this team have no field ${key}.`,
    fix: `Use a field that GET /api/v1/fields lists.${didYouMean(key, known)}`,
  });
}

/** @throws ApiError validation_failed */
function readValue(reading: Reading): FieldValue {
  const { field, before, path } = reading;
  const value = readers[field.type](reading);
  if (field.archived && JSON.stringify(value) !== JSON.stringify(before))
    throw invalidField(path, 'conflict', {
      why: 'The field is archived.',
      fix: 'Leave the field out, or give null.',
    });
  return value;
}

interface Reading {
  readonly ctx: Writing['ctx'];
  readonly field: FieldEntry;
  readonly input: FieldValue;
  /** Current value of the field. */
  readonly before: FieldValue | undefined;
  readonly path: string;
}

const readers: Readonly<Record<FieldEntry['type'], (reading: Reading) => FieldValue>> = {
  text: (reading) => readText(reading, 'Give a text.'),
  number(reading) {
    const number = readAs(reading, 'number', 'Give a number.');
    if (Math.abs(number) <= numberMax) return number;
    throw wrong(reading, number > 0 ? 'too_big' : 'too_small', `Give a number within ±${numberMax}.`);
  },
  checkbox: (reading) => readAs(reading, 'boolean', 'Give true or false.'),
  date(reading) {
    const day = readAs(reading, 'string', 'Give a day as YYYY-MM-DD.');
    if (isDay(day) && /^\d{4}-/.test(day)) return day;
    throw wrong(reading, 'invalid_format', {
      why: `${day} is not a day of the calendar.`,
      fix: 'Give a day as YYYY-MM-DD.',
    });
  },
  url(reading) {
    const text = readText(reading, 'Give a URL.');
    if (/^https?:\/\/\S+$/i.test(text) && URL.canParse(text)) return text;
    throw wrong(reading, 'invalid_format', 'Give a URL that begins with https:// or http://.');
  },
  member(reading) {
    const { ctx, path } = reading;
    const wanted = readAs(reading, 'string', 'Give the id, e-mail address or name of a member, or `me`.');
    const id = idOfName(ctx, member, wanted, path);
    const entry = ctx.directory.members.get(id);
    // A removed member may stay the value of the field.
    if (entry && (!entry.removed || id === reading.before)) return id;
    throw wrong(reading, 'not_found', { why: `There is no member ${id}.`, fix: 'Give the id of a member.' });
  },
  select: (reading) =>
    readOption(reading, readAs(reading, 'string', 'Give the value or the name of an option.'), reading.path),
  multi_select(reading) {
    const { input, path, field } = reading;
    if (!Array.isArray(input)) throw wrong(reading, 'invalid_type', 'Give a list of options.');
    const chosen = new Set(input.map((one, index) => readOption(reading, one, `${path}.${index}`)));
    return field.options.map(({ value }) => value).filter((value) => chosen.has(value));
  },
};

interface Types {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
}

function readAs<T extends keyof Types>(reading: Reading, type: T, fix: string): Types[T] {
  if (typeof reading.input !== type) throw wrong(reading, 'invalid_type', fix);
  return reading.input as Types[T];
}

function readText(reading: Reading, fix: string): string {
  const text = readAs(reading, 'string', fix);
  if (text.length <= textMax) return text;
  throw wrong(reading, 'too_long', `Give at most ${textMax} characters.`);
}

function readOption({ ctx, field, before }: Reading, input: string, path: string): string {
  const wanted = foldName(input);
  const option =
    field.options.find(({ value }) => value === input) ??
    field.options.find(({ name }) => foldName(name) === wanted);
  const open = field.options.filter(({ archived }) => !archived).map(({ value }) => value);
  const called = field.options.flatMap(({ archived, value, name }) => (archived ? [] : [value, name]));
  const had = Array.isArray(before) ? before : [before];
  if (option && (!option.archived || had.includes(option.value))) {
    if (option.value !== input) ctx.resolved?.(path, option.value);
    return option.value;
  }
  throw invalidField(path, 'invalid_enum', {
    why: option ? `The option ${option.value} is archived.` : `There is no option ${input}.`,
    fix:
      open.length === 0
        ? 'Leave the field out: all its options are archived.'
        : `Choose from ${open.join(', ')}.${didYouMean(input, called)}`,
  });
}

const wrong = ({ path }: Reading, issue: Parameters<typeof invalidField>[1], words: string | Wrong): Error =>
  invalidField(path, issue, words);
