// Idempotency keys. The row of a key is committed in the same batch as the effect, so either both exist or
// neither does. A key is scoped to a credential (`tokenId` of the principal, which outlives a renewed token),
// a method and a path, and expires after 24 h. Only completed writes are stored: a rejected request had no
// effect to repeat.
import { createHash } from 'node:crypto';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { type SealedFor, sealedFor, type Sealing } from '../../platform/lib/secrets/sealing.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { type Op, type Scope, type Store, tenantOp } from '../../platform/store/store.ts';
import { completeStored, waitsForCommit } from '../events/log/append.ts';
import { readParts } from '../events/log/log.ts';
import type { WrittenAnswer } from './call.ts';
import { etagOf, ifMatchVersion } from './response/response.ts';
import { idempotencyTable } from '../tables.ts';

const idempotencyHours = 24;

const find = idempotencyTable.selectAll('find', ['id']);
const removeExpired = tenantStatement(
  'idempotency.remove_expired',
  'DELETE FROM idempotency WHERE workspace_id = :ws AND expires_at <= :now AND id = :id',
);
const insert = tenantStatement(
  'idempotency.insert',
  `INSERT INTO idempotency (workspace_id, id, body_hash, status, headers_json, body, sealed, created_at, expires_at, recall_json, after_sequence)
   VALUES (:ws, :id, :bodyHash, :status, :headers, :body, :sealed, :now, :expiresAt, :recall,
     CASE WHEN :recall IS NOT NULL OR :learns THEN (SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws) END)`,
);

interface StoredHeaders {
  readonly etag?: string;
  readonly location?: string;
}

/** Claim of a running request on its key. */
export interface KeyClaim {
  /**
   * Returns the response to an earlier identical request; null if there was none.
   * @throws ApiError idempotency_key_reused
   */
  replay(): Promise<WrittenAnswer | null>;
  /**
   * Returns guards that store the response, ahead of the events in the batch. If one fails as a `duplicate`,
   * another request has already used the key.
   * @param answer response, including its JSON
   * @param emitted objects for which the batch emits events, by id
   */
  guards(answer: WrittenAnswer, emitted: ReadonlyMap<string, object>): Op[];
  release(): void;
}

interface KeyedRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  /** Text that is equal for repeats of a request. */
  readonly text: string;
  /** Parsed body. */
  readonly value: unknown;
  /** True if the response contains a one-time secret: the stored response is then complete, and encrypted. */
  readonly secret: boolean;
}

export interface IdempotencyKeys {
  /** @throws ApiError idempotency_in_progress, idempotency_key_reused */
  claim(scope: Scope, tokenId: string, request: KeyedRequest): KeyClaim;
}

interface KeysOptions {
  readonly store: Store;
  readonly sealing: Sealing;
  readonly nowMs: () => number;
}

/** Request, with the key under which its response is stored. */
interface Claimed {
  readonly scope: Scope;
  readonly request: KeyedRequest;
  readonly id: string;
  readonly bodyHash: string;
  /** Purpose for which a secret response is sealed. */
  readonly purpose: SealedFor;
}

export function createIdempotencyKeys(options: KeysOptions): IdempotencyKeys {
  /**
   * Hashes of the texts of requests in progress, by key. Each request removes its entry when it ends, which
   * bounds the map.
   */
  const inFlight = new Map<string, string>();
  return {
    claim(scope, tokenId, request) {
      const id = sha256(JSON.stringify([tokenId, request.method, request.path, request.key]));
      const bodyHash = sha256(request.text);
      const inFlightKey = `${scope.workspaceId} ${id}`;
      const running = inFlight.get(inFlightKey);
      if (running !== undefined)
        throw new ApiError(running === bodyHash ? 'idempotency_in_progress' : 'idempotency_key_reused');
      inFlight.set(inFlightKey, bodyHash);
      const purpose = sealedFor('idempotency', scope.workspaceId, id);
      const claimed: Claimed = { scope, request, id, bodyHash, purpose };
      return {
        replay: () => findStoredAnswer(options, claimed),
        guards: (answer, emitted) => storeAnswerOps(options, claimed, answer, emitted),
        release: () => void inFlight.delete(inFlightKey),
      };
    },
  };
}

async function findStoredAnswer(
  { store, sealing, nowMs }: KeysOptions,
  { scope, request, id, bodyHash, purpose }: Claimed,
): Promise<WrittenAnswer | null> {
  const row = await find.one(store, scope, { id });
  if (!row || row.expires_at <= nowMs()) return null;
  if (row.body_hash !== bodyHash)
    throw new ApiError(
      'idempotency_key_reused',
      'This idempotency key was used with a different body or parameter. Use a new key for a new request.',
    );
  const bytes = new Uint8Array(row.body);
  const stored = row.sealed === 1 ? sealing.open(bytes, purpose) : new TextDecoder().decode(bytes);
  const recalled = row.recall_json === null ? null : (JSON.parse(row.recall_json) as Recalled[]);
  const after = row.after_sequence ?? 0;
  const whole = recalled
    ? await recall(store, scope, { text: stored, recalled }, after, request.value)
    : stored;
  const text = whole === '' ? null : await completeStored(store, scope, whole, after);
  const { etag, location } = JSON.parse(row.headers_json) as StoredHeaders;
  return {
    kind: 'written',
    status: row.status,
    body: undefined,
    text,
    version: etag === undefined ? undefined : (ifMatchVersion(etag) ?? undefined),
    location,
    isReplay: true,
  };
}

function storeAnswerOps(
  { sealing, nowMs }: KeysOptions,
  { scope, request, id, bodyHash, purpose }: Claimed,
  { status, body, text, version, location }: WrittenAnswer,
  emitted: ReadonlyMap<string, object>,
): Op[] {
  const now = nowMs();
  const short = request.secret ? null : shorten(text ?? '', body, request.value, emitted);
  const storedText = short?.text ?? text ?? '';
  const headers: StoredHeaders = {
    ...(version === undefined ? {} : { etag: etagOf(version, storedText) }),
    ...(location === undefined ? {} : { location }),
  };
  return [
    tenantOp(scope, removeExpired, { id, now }),
    tenantOp(scope, insert, {
      id,
      bodyHash,
      status,
      headers: JSON.stringify(headers),
      body: request.secret ? sealing.seal(storedText, purpose) : new TextEncoder().encode(storedText),
      sealed: request.secret ? 1 : 0,
      recall: short && JSON.stringify(short.recalled),
      learns: mayHaveEarlierValue(status, storedText) ? 1 : 0,
      now,
      expiresAt: now + idempotencyHours * 3_600_000,
    }),
  ];
}

/** A created object is completed by this commit; an existing one may have been by an earlier commit. */
function mayHaveEarlierValue(status: number, text: string): boolean {
  return status !== 201 && waitsForCommit(text);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Maximum length of a response that is stored whole. */
const wholeCharsMax = 4_096;
const longCharsMin = 512;

type ResponseObject = Readonly<Record<string, unknown>>;

/** Source of a field that is not stored: a field of the response, or of the item `at` of its `data`. */
interface Recalled {
  readonly at: number | null;
  readonly field: string;
  /**
   * `request`: the field of that name in the request; `made`, `stood`: the object in the event log, after or
   * before this request.
   */
  readonly from: 'request' | 'made' | 'stood';
}

/**
 * Response without its long fields: a repeated request contains the fields that were copied from it, and
 * event data contains the fields of objects. A key therefore takes a few hundred bytes, however long the
 * response is. docs/decisions/0004.
 */
interface Shortened {
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
function shorten(
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
async function recall(
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
