// Stores a response without its long fields: a repeated request contains the fields that were copied from it,
// and event data contains the fields of objects. A key therefore takes a few hundred bytes, however long the
// response is. docs/decisions/0004.
import { readParts } from '../events/log/log.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import type { Scope, Store } from '../../platform/store/store.ts';

/** Maximum length of a response that is stored whole. */
const wholeCharsMax = 4_096;
const longCharsMin = 512;

type ResponseObject = Readonly<Record<string, unknown>>;

/** Source of a field that is not stored: a field of the response, or of the item `at` of its `data`. */
export interface Recalled {
  readonly at: number | null;
  readonly field: string;
  /** `request`: the field of that name in the request; `made`, `stood`: the object in the event log, after or before this request. */
  readonly from: 'request' | 'made' | 'stood';
}

export interface Shortened {
  readonly text: string;
  readonly recalled: readonly Recalled[];
}

const eventAfter = tenantStatement<{ sequence: number }>(
  'events.made_after',
  `SELECT sequence FROM events WHERE workspace_id = :ws AND sequence > :after AND entity_id = :id ORDER BY sequence LIMIT 1`,
);
const stoodAt = tenantStatement<{ sequence: number }>(
  'events.stood_at',
  `SELECT sequence FROM events INDEXED BY events_issue WHERE workspace_id = :ws AND issue_id = :id AND sequence <= :after AND entity_id = :id
   ORDER BY sequence DESC LIMIT 1`,
);

/**
 * Returns the response without its recallable fields; null if it is stored whole.
 * @param body the value that `text` is the JSON of
 * @param emitted objects for which the request emits events, by id
 */
export function shorten(
  text: string,
  body: unknown,
  request: unknown,
  emitted: ReadonlyMap<string, object>,
): Shortened | null {
  if (text.length <= wholeCharsMax || !isObject(body)) return null;
  const recalled: Recalled[] = [];
  const shortenOne = (responseObject: ResponseObject, at: number | null): ResponseObject => {
    const short: Record<string, unknown> = { ...responseObject };
    for (const [field, value] of Object.entries(responseObject)) {
      const from = sourceOf(responseObject, field, value, at === null ? request : null, emitted);
      if (!from) continue;
      recalled.push({ at, field, from });
      short[field] = null;
    }
    return short;
  };
  const { data } = body as { data?: unknown };
  const short = Array.isArray(data)
    ? { ...body, data: data.map((item: ResponseObject, at) => shortenOne(item, at)) }
    : shortenOne(body as ResponseObject, null);
  return recalled.length === 0 ? null : { text: JSON.stringify(short), recalled };
}

/** Returns the source of a field; null if the field is stored. */
function sourceOf(
  responseObject: ResponseObject,
  field: string,
  value: unknown,
  request: unknown,
  emitted: ReadonlyMap<string, object>,
): Recalled['from'] | null {
  if (!isLong(value)) return null;
  if (isSame(value, fieldOf(request, field))) return 'request';
  const { id } = responseObject;
  if (typeof value !== 'string' || typeof id !== 'string') return null;
  const object = emitted.get(id);
  if (object) return fieldOf(object, field) === value ? 'made' : null;
  return id.startsWith('iss_') ? 'stood' : null;
}

/** Every object counts as long, because measuring one takes as much time as comparing it. */
function isLong(value: unknown): boolean {
  return typeof value === 'string' ? value.length >= longCharsMin : isObject(value);
}

function isSame(value: unknown, sent: unknown): boolean {
  if (sent === undefined) return false;
  return typeof value === 'string' ? sent === value : JSON.stringify(sent) === JSON.stringify(value);
}

function fieldOf(object: unknown, field: string): unknown {
  return isObject(object) ? (object as ResponseObject)[field] : undefined;
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}

/** Restores the whole response, character for character. */
export async function recall(
  store: Store,
  scope: Scope,
  { text, recalled }: Shortened,
  afterSequence: number,
  request: unknown,
): Promise<string> {
  const body = JSON.parse(text) as Record<string, unknown> & { data: Record<string, unknown>[] };
  // Bounded by the objects in one response.
  const objects = new Map<string, ResponseObject>();
  const objectOf = async (id: string, from: Recalled['from']): Promise<ResponseObject> => {
    const known = objects.get(id);
    if (known) return known;
    const row = await store.readOne(scope, from === 'made' ? eventAfter : stoodAt, {
      id,
      after: afterSequence,
    });
    if (!row) throw new Error(`The event that recorded ${id} for this response is missing.`);
    const object = JSON.parse((await readParts(store, scope, row.sequence)).data) as ResponseObject;
    objects.set(id, object);
    return object;
  };
  for (const { at, field, from } of recalled) {
    const responseObject = at === null ? body : body.data[at]!;
    const source =
      from === 'request' ? (request as ResponseObject) : await objectOf(String(responseObject.id), from);
    if (!(field in source)) throw new Error(`The recalled field ${field} is missing.`);
    responseObject[field] = source[field];
  }
  return JSON.stringify(body);
}
