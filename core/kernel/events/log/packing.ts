// Storage format of an event's cause and data: one compressed text, stored once for all events of a change
// that share it; two plain texts if they are short. Old events may be in an archive file. Commit-assigned
// values are stored apart from the data.
import type { Statement } from '../../../platform/store/statement.ts';
import type { Cause } from '../event.ts';

/** Cause and data of an event, as JSON. */
export interface Parts {
  /** Made by `causeText`. */
  readonly cause: string;
  readonly data: string;
}

interface StoredData {
  data_json: string;
}

export interface StoredParts extends StoredData {
  cause_json: string;
  packed: Uint8Array | ArrayBuffer | null;
}

/** Minimum length of compressed texts, in characters: shorter ones hardly compress. */
const packedCharsMin = 300;
/** Fastest level: higher levels cost more time than the saved bytes are worth. */
const level = 1;
/** Separator of the parts, which do not contain it: JSON escapes line feeds. */
const between = '\n';

const empty = { cause_json: '', data_json: '' };

export function pack(parts: Parts): StoredParts & { readonly packed: Uint8Array | null } {
  const { cause, data } = parts;
  const plain = { cause_json: cause, data_json: data, packed: null };
  if (cause.length + data.length < packedCharsMin) return plain;
  const text = Buffer.from(cause + between + data);
  const packed = Bun.zstdCompressSync(text, { level });
  return packed.length < text.length ? { ...empty, packed } : plain;
}

/** Returns an empty text for an event that is its own root, which is the common case. */
export function causeText(cause: Cause, eventId: string): string {
  const { rootEventId, parentRunId, depth, path } = cause;
  const isOwnRoot = rootEventId === eventId && parentRunId === null && depth === 0 && path.length === 0;
  return isOwnRoot ? '' : JSON.stringify(cause);
}

export function causeOf(text: string, eventId: string): Cause {
  if (text === '') return { rootEventId: eventId, parentRunId: null, depth: 0, path: [] };
  return JSON.parse(text) as Cause;
}

/** @param distance number of events back to the one that stores the same parts, packed */
export function sameAs(distance: number): ReturnType<typeof pack> {
  return { ...empty, data_json: `=${distance}`, packed: null };
}

/** Returns true if the row stores the parts. JSON starts with neither `=` nor `@`. */
export const isHere = ({ data_json: data }: StoredData): boolean => !/^[=@]/.test(data);

/** Returns the number of events back to the one that stores the parts; 0 if this event stores them. */
export function distanceOf({ data_json: data }: StoredData): number {
  return data.startsWith('=') ? Number(data.slice(1)) : 0;
}

/** Returns the first sequence of the archive file that stores the parts; null if the database stores them. */
export function fileOf({ data_json: data }: StoredData): number | null {
  return data.startsWith('@') ? Number(data.slice(1)) : null;
}

/** @throws Error if the parts are stored elsewhere or damaged */
export function unpack(stored: StoredParts): Parts {
  if (!isHere(stored))
    throw new Error(
      'The parts of this event are stored with an earlier event or in an archive file. Read them from there.',
    );
  if (stored.packed === null) return { cause: stored.cause_json, data: stored.data_json };
  const text = Bun.zstdDecompressSync(stored.packed).toString();
  const end = text.indexOf(between);
  if (end < 0) throw new Error('The packed parts of this event are incomplete.');
  return { cause: text.slice(0, end), data: text.slice(end + between.length) };
}

export type ObjectBody = Readonly<Record<string, unknown>>;

/**
 * Applies the commit-assigned value of an entity model, such as a number that is allocated inside the
 * transaction. Until the commit, an object is shown without its value; the event stores the value, and every
 * reader shows the completed object. See docs/decisions/0003.
 */
export interface CommitAssignedRule {
  /** Appends an event and allocates its value; made by `appendStatement`. */
  readonly append: Statement<Appended>;
  /** Matches the JSON of an object whose value is still missing. */
  readonly waits: RegExp;
  /** Adds the value to an object that lacks it; returns any other object unchanged. */
  complete(object: ObjectBody, value: number): ObjectBody;
  /** Removes the fields that depend on a missing value; returns any other object unchanged. */
  hide(object: ObjectBody): ObjectBody;
}

/** Row returned by the statement that appends an event. */
export interface Appended {
  readonly sequence: number;
  readonly learned: number | null;
}

export interface CommitAssigned {
  readonly entityType: string;
  readonly value: number;
}

/** By entity model. Bounded, because only code adds entries. */
const rules = new Map<string, CommitAssignedRule>();

/**
 * Registers a model whose events have a commit-assigned value. Call once per model, before its first event is
 * created or shown.
 */
export function assignAtCommit(entityType: string, rule: CommitAssignedRule): void {
  rules.set(entityType, rule);
}

/** @throws Error if events of the model have no commit-assigned value */
export function commitAssignedRule(entityType: string): CommitAssignedRule {
  const rule = rules.get(entityType);
  if (!rule) throw new Error(`No commit-assigned value is registered for events of ${entityType}.`);
  return rule;
}

/**
 * Adds the commit-assigned values, by object id, to a response body (an object, or a list of objects in
 * `data`).
 */
export function completeBody(body: unknown, learned: ReadonlyMap<string, CommitAssigned>): unknown {
  if (!isObjectBody(body)) return body;
  if (Array.isArray(body.data))
    return { ...body, data: body.data.map((item) => completeBody(item, learned)) };
  const known = learned.get(String(body.id));
  return known ? commitAssignedRule(known.entityType).complete(body, known.value) : body;
}

/**
 * Completes the JSON of a response that was stored in its own batch, before the values were allocated.
 * @param find returns the commit-assigned value of an object, by id
 */
export async function completeText(
  text: string,
  find: (id: string) => Promise<CommitAssigned | null>,
): Promise<string> {
  if (!waitsForCommit(text)) return text;
  const body = JSON.parse(text) as ObjectBody;
  const learned = new Map<string, CommitAssigned>();
  for (const { id } of (Array.isArray(body.data) ? body.data : [body]) as ObjectBody[]) {
    const assigned = typeof id === 'string' ? await find(id) : null;
    if (assigned) learned.set(String(id), assigned);
  }
  return JSON.stringify(completeBody(body, learned));
}

/** Returns true if the JSON of a response lacks a commit-assigned value. */
export function waitsForCommit(text: string): boolean {
  return [...rules.values()].some(({ waits }) => waits.test(text));
}

/** Returns the body of an uncommitted response, without the fields that depend on commit-assigned values. */
export function hidePending(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(hidePending);
  if (!isObjectBody(body)) return body;
  let object = body;
  for (const { hide } of new Set(rules.values())) object = hide(object);
  return 'data' in object ? { ...object, data: hidePending(object.data) } : object;
}

export function isObjectBody(value: unknown): value is ObjectBody {
  return value !== null && typeof value === 'object';
}
