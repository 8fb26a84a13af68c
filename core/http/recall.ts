// Keeps an answer without its long parts: what the request brought comes again with its repeat, and what an object was then is
// the data of an event. So a key costs its few hundred bytes, whatever the answer weighs. docs/decisions/0014.
import { tenantStatement } from '../store/statement.ts';
import type { Scope, Store } from '../store/store.ts';

/** Shorter answers are kept whole (characters). */
const wholeCharsMax = 4_096;
const longCharsMin = 512;

type Shown = Readonly<Record<string, unknown>>;

/** Where a field of the answer, or of the item `at` of its `data`, is to be had again. */
export interface Recalled {
  readonly at: number | null;
  readonly field: string;
  /** The request's field of that name; or the object in the log: as this request made it, or as it stood when it came. */
  readonly from: 'request' | 'made' | 'stood';
}

export interface Shortened {
  readonly text: string;
  readonly recalled: readonly Recalled[];
}

const madeAfter = tenantStatement<{ data_json: string }>(
  'events.made_after',
  `SELECT data_json FROM events WHERE workspace_id = :ws AND sequence > :after AND entity_id = :id ORDER BY sequence LIMIT 1`,
);
const stoodAt = tenantStatement<{ data_json: string }>(
  'events.stood_at',
  `SELECT data_json FROM events WHERE workspace_id = :ws AND issue_id = :id AND sequence <= :after AND entity_id = :id
   ORDER BY sequence DESC LIMIT 1`,
);

/**
 * The answer without what can be recalled; null where it is kept whole.
 * @param body what `text` is the JSON of
 * @param made the objects of which the request makes events, by id
 */
export function shorten(
  text: string,
  body: unknown,
  request: unknown,
  made: ReadonlyMap<string, object>,
): Shortened | null {
  if (text.length <= wholeCharsMax || !isObject(body)) return null;
  const recalled: Recalled[] = [];
  const shortenOne = (shown: Shown, at: number | null): Shown => {
    const short: Record<string, unknown> = { ...shown };
    for (const [field, value] of Object.entries(shown)) {
      const from = sourceOf(shown, field, value, at === null ? request : null, made);
      if (!from) continue;
      recalled.push({ at, field, from });
      short[field] = null;
    }
    return short;
  };
  const { data } = body as { data?: unknown };
  const short = Array.isArray(data)
    ? { ...body, data: data.map((item: Shown, at) => shortenOne(item, at)) }
    : shortenOne(body as Shown, null);
  return recalled.length === 0 ? null : { text: JSON.stringify(short), recalled };
}

/** Where a field of what was shown is to be had again; null where it is kept. */
function sourceOf(
  shown: Shown,
  field: string,
  value: unknown,
  request: unknown,
  made: ReadonlyMap<string, object>,
): Recalled['from'] | null {
  if (!isLong(value)) return null;
  if (isSame(value, fieldOf(request, field))) return 'request';
  const { id } = shown;
  if (typeof value !== 'string' || typeof id !== 'string') return null;
  const object = made.get(id);
  if (object) return fieldOf(object, field) === value ? 'made' : null;
  return id.startsWith('iss_') ? 'stood' : null;
}

/** Objects are taken for long, because to find out would take as long as to compare them. */
function isLong(value: unknown): boolean {
  return typeof value === 'string' ? value.length >= longCharsMin : isObject(value);
}

function isSame(value: unknown, sent: unknown): boolean {
  if (sent === undefined) return false;
  return typeof value === 'string' ? sent === value : JSON.stringify(sent) === JSON.stringify(value);
}

function fieldOf(object: unknown, field: string): unknown {
  return isObject(object) ? (object as Shown)[field] : undefined;
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}

/** The whole answer again, to the letter. */
export async function recall(
  store: Store,
  scope: Scope,
  { text, recalled }: Shortened,
  afterSequence: number,
  request: unknown,
): Promise<string> {
  const body = JSON.parse(text) as Record<string, unknown> & { data: Record<string, unknown>[] };
  // Of one answer: as many as it shows.
  const objects = new Map<string, Shown>();
  const objectOf = async (id: string, from: Recalled['from']): Promise<Shown> => {
    const known = objects.get(id);
    if (known) return known;
    const row = await store.readOne(scope, from === 'made' ? madeAfter : stoodAt, {
      id,
      after: afterSequence,
    });
    if (!row) throw new Error(`The event that holds ${id} as it was answered is missing.`);
    const object = JSON.parse(row.data_json) as Shown;
    objects.set(id, object);
    return object;
  };
  for (const { at, field, from } of recalled) {
    const shown = at === null ? body : body.data[at]!;
    const source = from === 'request' ? (request as Shown) : await objectOf(String(shown.id), from);
    if (!(field in source)) throw new Error(`What was answered as ${field} is missing.`);
    shown[field] = source[field];
  }
  return JSON.stringify(body);
}
