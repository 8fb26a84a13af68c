// Requests of plugins to other servers: parsed from untrusted JSON of the guest, with placeholders of
// secrets, and stored in a journal with their answers.
import { netMethods, type PluginManifest, type SecretRequest } from '../../../../sdk/plugin/manifest.ts';
import { CallError } from './gateway.ts';
import type { Sealing } from '../../../platform/lib/secrets/sealing.ts';
import { type Scope, tenantOp, type Store } from '../../../platform/store/store.ts';
import type { Install } from '../installs/model.ts';
import { createHash } from 'node:crypto';
import { tenantStatement } from '../../../platform/store/statement.ts';
import type { RunRow } from '../runs/rows.ts';

const bodyBytesMax = 256 * 1024;
const headersMax = 50;

export interface GuestRequest {
  readonly method: (typeof netMethods)[number];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** @throws CallError validation_failed, quota_exceeded */
export function readRequest(input: unknown): GuestRequest {
  const { url, method = 'GET', headers = {}, body = null } = objectOf(input);
  if (typeof url !== 'string') throw invalid('The URL must be a string.');
  const known = netMethods.find((one) => one === method);
  if (!known) throw invalid(`The method must be one of ${netMethods.join(', ')}.`);
  return { method: known, url, headers: headersOf(headers), body: bodyOf(known, body) };
}

function bodyOf(method: GuestRequest['method'], body: unknown): string | null {
  if (body === null) return null;
  if (typeof body !== 'string') throw invalid('The body must be a string.');
  if (method === 'GET' || method === 'HEAD')
    throw invalid(`A ${method} request cannot have a body. Remove the body, or use another method.`);
  if (Buffer.byteLength(body) > bodyBytesMax)
    throw new CallError(
      'quota_exceeded',
      `The body of a request can have at most ${bodyBytesMax} bytes. Send less data per request.`,
    );
  return body;
}

function headersOf(input: unknown): Record<string, string> {
  const entries = Object.entries(objectOf(input));
  if (entries.length > headersMax)
    throw invalid(`A request can have at most ${headersMax} headers. Remove some of them.`);
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of entries) {
    if (typeof value !== 'string') throw invalid('Header values must be strings.');
    headers[name] = value;
  }
  return headers;
}

function objectOf(value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw invalid('The request and its headers must be objects.');
  return value as Record<string, unknown>;
}

function invalid(message: string): CallError {
  return new CallError('validation_failed', message);
}

/**
 * The tag is unguessable, so that issue text cannot contain a placeholder and cause a request to be refused.
 * The placeholder is stable for an install.
 */
function placeholderOf(sealing: Sealing, scope: Scope, installId: string, name: string): string {
  const tag = sealing.sign(`${scope.workspaceId}/${installId}/${name}`, 'plugin-secret-placeholder');
  return `tatami-secret-${name}-${tag}`;
}

/** Placeholders of all secrets that a manifest declares, by name. */
type Placeholders = Readonly<Record<string, string>>;

export function placeholdersOf(sealing: Sealing, scope: Scope, { id, manifest }: Install): Placeholders {
  return Object.fromEntries(
    Object.keys(manifest.secrets ?? {}).map((name) => [name, placeholderOf(sealing, scope, id, name)]),
  );
}

export interface SecretsForGuest {
  readonly refs: Placeholders;
  readonly set: readonly string[];
}

/** Returns the secrets that a run can use; undefined if the plugin declares none. */
export function secretsForGuest(
  sealing: Sealing,
  scope: Scope,
  install: Install,
): SecretsForGuest | undefined {
  if (!install.manifest.secrets) return undefined;
  const refs = placeholdersOf(sealing, scope, install);
  return { refs, set: Object.keys(install.secretsSet).filter((name) => Object.hasOwn(refs, name)) };
}

interface OutgoingText {
  readonly origin: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface HeaderSecret {
  readonly name: string;
  readonly request: SecretRequest;
}

/**
 * Returns the headers that hold a secret, by the header name in the request.
 * @throws CallError egress_denied if a placeholder is anywhere else
 */
export function findSecrets(
  { secrets = {} }: PluginManifest,
  placeholders: Placeholders,
  { origin, url, headers, body }: OutgoingText,
): ReadonlyMap<string, HeaderSecret> {
  const byHeader = new Map<string, HeaderSecret>();
  for (const [name, placeholder] of Object.entries(placeholders)) {
    const request = secrets[name]!;
    const elsewhere = [url, body ?? '', ...Object.keys(headers)].some((text) => holds(text, placeholder));
    if (elsewhere) throw misplaced(name, request, 'The placeholder is in the URL, the body or a header name');
    for (const [header, value] of Object.entries(headers)) {
      if (!holds(value, placeholder)) continue;
      if (header.toLowerCase() !== request.header.toLowerCase())
        throw misplaced(name, request, `The placeholder is in the header ${header}`);
      if (!request.hosts.includes(origin)) throw misplaced(name, request, `The request goes to ${origin}`);
      if (value !== placeholder && value !== formatted(request, placeholder))
        throw misplaced(name, request, 'The header value has other text besides the placeholder');
      byHeader.set(header, { name, request });
    }
  }
  return byHeader;
}

const holds = (text: string, placeholder: string): boolean =>
  text.toLowerCase().includes(placeholder.toLowerCase());

export function formatted({ format = '{}' }: SecretRequest, secret: string): string {
  // The replacement is a function, because `replace` interprets `$&` in a string.
  return format.replace('{}', () => secret);
}

function misplaced(name: string, { header, hosts }: SecretRequest, why: string): CallError {
  return new CallError(
    'egress_denied',
    `The secret ${name} can be sent only in the header ${header} to ${hosts.join(', ')}. ${why}.`,
  );
}

const find = tenantStatement<{ response_json: string | null }>(
  'journal.find',
  'SELECT response_json FROM journal WHERE workspace_id = :ws AND id = :id',
);
const reserve = tenantStatement(
  'journal.reserve',
  `INSERT INTO journal (workspace_id, id, run_id, install_id, request, created_at)
   VALUES (:ws, :id, :runId, :installId, :request, :now)`,
);
const release = tenantStatement(
  'journal.release',
  'DELETE FROM journal WHERE workspace_id = :ws AND id = :id AND response_json IS NULL',
);
const storeAnswer = tenantStatement(
  'journal.store',
  `INSERT INTO journal (workspace_id, id, run_id, install_id, request, response_json, created_at, finished_at)
   VALUES (:ws, :id, :runId, :installId, :request, :answer, :now, :now)
   ON CONFLICT (workspace_id, id) DO UPDATE SET response_json = excluded.response_json, finished_at = excluded.finished_at
   WHERE response_json IS NULL`,
);

/**
 * Returns the journal key in hex.
 * @param args canonical text of the arguments
 * @param occurrence index of this call among the run's calls with the same `op` and `args`, from 0
 */
export function journalKey(run: RunRow, op: string, args: string, occurrence: number): string {
  const of = [
    run.install_id,
    run.event_id ?? run.id,
    `${run.handler_kind}:${run.handler}`,
    op,
    args,
    occurrence,
  ];
  return createHash('sha256').update(JSON.stringify(of)).digest('hex');
}

/** Returns undefined if the request was not sent; `answer` is null if it may have been sent and the answer is unknown. */
export async function findJournaled(
  store: Store,
  scope: Scope,
  key: string,
): Promise<{ readonly answer: string | null } | undefined> {
  const row = await store.readOne(scope, find, { id: key });
  return row && { answer: row.response_json };
}

export interface Journal {
  /** Records that a request is about to be sent. @returns false if that was recorded before */
  reserve(key: string, request: string): Promise<boolean>;
  /** Removes the record of a request that was not sent. */
  release(key: string): Promise<void>;
  storeAnswer(key: string, request: string, answer: string): Promise<void>;
}

interface JournalOptions {
  readonly store: Store;
  readonly nowMs: () => number;
  readonly scope: Scope;
  readonly run: RunRow;
}

/**
 * Returns the journal of one run. Each entry is committed immediately instead of with the run, because a sent
 * request cannot be undone.
 */
export function journalOf({ store, nowMs, scope, run }: JournalOptions): Journal {
  const row = (key: string, request: string) => ({
    id: key,
    request,
    now: nowMs(),
    runId: run.id,
    installId: run.install_id,
  });
  return {
    async reserve(key, request) {
      const outcome = await store.commit([tenantOp(scope, reserve, row(key, request))]);
      if (outcome.ok) return true;
      if (await findJournaled(store, scope, key)) return false;
      throw new Error(`The journal could not be written: ${outcome.message}`);
    },
    async release(key) {
      await store.commit([tenantOp(scope, release, { id: key })]);
    },
    async storeAnswer(key, request, answer) {
      const outcome = await store.commit([tenantOp(scope, storeAnswer, { ...row(key, request), answer })]);
      if (!outcome.ok) throw new Error(`The journal could not be written: ${outcome.message}`);
    },
  };
}
