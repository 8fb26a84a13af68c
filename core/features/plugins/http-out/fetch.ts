// Implements `fetch` for plugins. It sends only requests that the manifest permits, through the egress guard,
// and gives all attempts of a run the same answer.
import { createHash } from 'node:crypto';
import { EgressError } from '../../../platform/lib/egress/error.ts';
import type { Egress, EgressResponse } from '../../../platform/lib/egress/egress.ts';
import type { Sealing } from '../../../platform/lib/secrets/sealing.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { type Scope, tenantOp, type Store } from '../../../platform/store/store.ts';
import { effectTable } from '../../../kernel/rights/effects.ts';
import type { Meter } from '../budgets/budget.ts';
import { CallError } from '../host-calls/gateway.ts';
import type { Install } from '../installs/model.ts';
import { openHostSecrets } from '../installs/rules.ts';
import type { RunRow } from '../runs/rows.ts';
import { openSecrets } from '../secrets/rows.ts';
import {
  createRedact,
  denied,
  formatted,
  permittedRequest,
  secretsForGuest,
  type PermittedRequest,
  type SecretsForGuest,
} from './rules.ts';

/** Limits: requests per attempt, total time per request, bytes of a response. */
const fetchesMax = 10;
const fetchMs = 5_000;
const answerBytesMax = 1024 * 1024;

/** Sends the requests of one attempt to other servers. */
export interface Outside {
  /** @param input untrusted request of the guest. @returns JSON. @throws CallError */
  ask(input: unknown): Promise<string>;
}

interface FetchOptions {
  readonly store: Store;
  readonly sealing: Sealing;
  readonly nowMs: () => number;
  readonly egress: Egress;
  /** Public base URL of this server. */
  readonly baseUrl: string;
}

interface OutsideOf {
  readonly scope: Scope;
  readonly install: Install;
  readonly run: RunRow;
  readonly meter: Meter;
  /** False for a simulation: all answers come from the journal. */
  readonly sends: boolean;
  /** Scopes of the caller that the run acts for; undefined if there is no caller. */
  readonly callerScopes: readonly string[] | undefined;
}

export interface Outsides {
  /** Returns the `fetch` implementation of one attempt. */
  of(of: OutsideOf): Outside;
  /** Returns the secrets that the attempt can use; undefined if the manifest declares none. */
  secretsFor(scope: Scope, install: Install): SecretsForGuest | undefined;
}

const noRecordedAnswer =
  'A simulated run sends no requests, and there is no recorded answer to this one. Handle this error, or run the plugin in another mode.';
const tooManyFetches = `A run can make at most ${fetchesMax} fetches. Split the work into several runs.`;

export function createOutsides(options: FetchOptions): Outsides {
  const { store } = options;
  const ownOrigin = new URL(options.baseUrl).origin;
  /**
   * Requests in progress, bounded by the open calls of runs. A concurrent attempt with the same request waits
   * for the same answer.
   */
  const underWay = new Map<string, Promise<string>>();

  const answerOnce = async (of: OutsideOf, key: string, outgoing: PermittedRequest): Promise<string> => {
    const known = await findJournaled(store, of.scope, key);
    if (known) return known.answer ?? lost(outgoing);
    if (!of.sends) throw denied(noRecordedAnswer);
    const journal = journalOf({ ...options, scope: of.scope, run: of.run });
    const secrets = await secretsOf(options, of);
    const headers = headersOf(of, key, outgoing, secrets);
    of.meter.chargeEgress(Buffer.byteLength(outgoing.body ?? ''));
    const response = await send(options.egress, journal, key, { ...outgoing, headers });
    const answer = answerText(response, createRedact(secrets));
    await journal.storeAnswer(key, requestLine(outgoing), answer);
    // The answer is charged after it is stored, so that a retry on the next day does not repeat the request.
    of.meter.chargeEgress(Buffer.byteLength(answer));
    return answer;
  };

  const ofAttempt = (of: OutsideOf): Outside => {
    let fetches = 0;
    const occurrences = new Map<string, number>();
    return {
      async ask(input) {
        requireCaller(of);
        if (++fetches > fetchesMax) throw new CallError('quota_exceeded', tooManyFetches);
        const outgoing = permittedRequest(input, { ...of, sealing: options.sealing, ownOrigin });
        const args = canonical(outgoing);
        const occurrence = occurrences.get(args) ?? 0;
        occurrences.set(args, occurrence + 1);
        const key = journalKey(of.run, 'net.fetch', args, occurrence);
        const dedupeKey = `${of.scope.workspaceId}/${key}`;
        const answering =
          underWay.get(dedupeKey) ??
          answerOnce(of, key, outgoing).finally(() => void underWay.delete(dedupeKey));
        underWay.set(dedupeKey, answering);
        return answering;
      },
    };
  };

  return {
    of: ofAttempt,
    secretsFor: (scope, install) => secretsForGuest(options.sealing, scope, install),
  };
}

async function secretsOf(options: FetchOptions, { scope, install }: OutsideOf) {
  if (!install.manifest.secrets) return new Map<string, string>();
  return install.rule ? openHostSecrets(options, scope, install) : openSecrets(options, scope, install.id);
}

/**
 * Returns the same text for the same request, independent of the present values of secrets and placeholders.
 */
function canonical({ method, url, headers, body, inHeaders }: PermittedRequest): string {
  const headerPairs = Object.entries(headers).map(([header, value]) => {
    const secret = inHeaders.get(header);
    return [header.toLowerCase(), secret ? `{secret ${secret.name}}` : value] as const;
  });
  headerPairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return JSON.stringify([method, url, headerPairs, body]);
}

function requestLine({ method, url }: PermittedRequest): string {
  return `${method} ${url}`;
}

function headersOf(
  { install }: OutsideOf,
  key: string,
  { method, headers, inHeaders }: PermittedRequest,
  secrets: ReadonlyMap<string, string>,
): Record<string, string> {
  const sent: Record<string, string> = { ...headers };
  for (const [header, { name, request }] of inHeaders) {
    const secret = secrets.get(name);
    if (secret === undefined)
      throw new CallError(
        'not_found',
        `The secret ${name} is not set. Set it with: tatami plugins secrets set ${install.pluginId} ${name}`,
      );
    sent[header] = formatted(request, secret);
  }
  if (!Object.keys(headers).some((header) => header.toLowerCase() === 'user-agent'))
    sent['user-agent'] = `Tatami (plugin ${install.pluginId})`;
  if (method !== 'GET' && method !== 'HEAD') sent['idempotency-key'] = key;
  return sent;
}

/** @throws CallError */
async function send(
  egress: Egress,
  journal: Journal,
  key: string,
  outgoing: PermittedRequest,
): Promise<EgressResponse> {
  const { method, url, headers, body, net } = outgoing;
  const isOnce = net.retry === 'never';
  if (isOnce && !(await journal.reserve(key, requestLine(outgoing)))) return lost(outgoing);
  try {
    return await egress.send({
      method,
      url,
      headers: { ...headers },
      ...(body === null ? {} : { body }),
      connectTimeoutMs: fetchMs,
      totalTimeoutMs: fetchMs,
      responseBytesMax: answerBytesMax,
    });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    if (isOnce && !error.sent) await journal.release(key);
    throw new CallError(codeOf(error), error.message);
  }
}

/** Returns JSON for the guest. The body is decoded as UTF-8. @throws CallError */
function answerText(
  { status, headers, body, truncated }: EgressResponse,
  redact: (text: string) => string,
): string {
  if (truncated)
    throw new CallError(
      'quota_exceeded',
      `The response is longer than ${answerBytesMax} bytes. Request less data.`,
    );
  const { 'content-encoding': encoding = 'identity' } = headers;
  // An encoded body could have any size after decoding, and could hide secrets from redaction.
  if (encoding.toLowerCase() !== 'identity')
    throw denied(
      `The response has an unrequested content encoding (${encoding.slice(0, 40)}). Use an endpoint that answers without one.`,
    );
  const redactedHeaders = Object.entries(headers).map(([name, value]) => [redact(name), redact(value)]);
  return JSON.stringify({ status, headers: redactedHeaders, body: redact(new TextDecoder().decode(body)) });
}

/**
 * Checks the caller's scope. The route of the action already checks it, but the run may start later, after
 * the plugin or the caller's rights have changed.
 * @throws CallError
 */
function requireCaller({ callerScopes }: OutsideOf): void {
  const { scope } = effectTable['outside-requests'];
  if (!callerScopes || callerScopes.includes(scope)) return;
  throw new CallError(
    'insufficient_scope',
    `Requests to other servers require the scope ${scope}, which the caller of this run does not have. Call the action with a key that has it.`,
  );
}

function lost(outgoing: PermittedRequest): never {
  throw denied(
    `${requestLine(outgoing)} was already sent and its response was lost. The request is not repeated because the manifest sets retry: never. Check at the receiver whether it was processed.`,
  );
}

const codes: Readonly<Partial<Record<EgressError['code'], string>>> = {
  bad_url: 'egress_denied',
  bad_request: 'egress_denied',
  refused_address: 'egress_denied',
  timeout: 'deadline_exceeded',
  too_large: 'quota_exceeded',
};

function codeOf({ code }: EgressError): string {
  return codes[code] ?? 'unreachable';
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
function journalKey(run: RunRow, op: string, args: string, occurrence: number): string {
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

/**
 * Returns undefined if the request was not sent; `answer` is null if it may have been sent and the answer is
 * unknown.
 */
async function findJournaled(
  store: Store,
  scope: Scope,
  key: string,
): Promise<{ readonly answer: string | null } | undefined> {
  const row = await store.readOne(scope, find, { id: key });
  return row && { answer: row.response_json };
}

interface Journal {
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
function journalOf({ store, nowMs, scope, run }: JournalOptions): Journal {
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
