// `fetch` as plugins have it: one of the requests that the manifest names, through the one outgoing door, answered once for all attempts
// of a run.
import type { NetRequest } from '../../../sdk/plugin/manifest.ts';
import { EgressError } from '../../lib/egress/error.ts';
import type { Egress, EgressResponse } from '../../lib/egress/egress.ts';
import type { Sealing } from '../../lib/sealing.ts';
import { effectTable } from '../../rights/effects.ts';
import type { Scope, Store } from '../../store/store.ts';
import type { Meter } from '../budgets/meter.ts';
import { CallError } from '../door-call.ts';
import type { Install } from '../installs/schema.ts';
import {
  findSecrets,
  formatted,
  placeholdersOf,
  secretsForGuest,
  type HeaderSecret,
  type SecretsForGuest,
} from '../secrets/placeholders.ts';
import { createRedact } from '../secrets/redact.ts';
import { openSecrets } from '../secrets/rows.ts';
import { findJournaled, journalKey, journalOf, type Journal, type JournalRun } from './journal.ts';
import { isReserved, permit } from './net.ts';
import { readRequest, type GuestRequest } from './request.ts';

/** Of one attempt; of one request, everything; what a receiver may answer. */
const fetchesMax = 10;
const fetchMs = 5_000;
const answerBytesMax = 1024 * 1024;

/** What a run asks of other servers. */
export interface Outside {
  /** @param asked what the guest claims to be a request. @returns JSON. @throws CallError */
  ask(asked: unknown): Promise<string>;
}

export interface OutsideOptions {
  readonly store: Store;
  readonly sealing: Sealing;
  readonly nowMs: () => number;
  readonly egress: Pick<Egress, 'send'>;
  /** Of this server, as people reach it. */
  readonly baseUrl: string;
}

interface OutsideOf {
  readonly scope: Scope;
  readonly install: Pick<Install, 'id' | 'pluginId' | 'manifest'>;
  readonly run: JournalRun;
  readonly meter: Pick<Meter, 'chargeEgress'>;
  /** Whether anything may be sent: without it, all answers come from the journal. */
  readonly sends: boolean;
  /** Scopes of whoever the run acts for; undefined where it acts for nobody. */
  readonly callerScopes: readonly string[] | undefined;
}

/** A request that may be sent. */
interface Outgoing extends GuestRequest {
  readonly origin: string;
  readonly net: NetRequest;
  readonly inHeaders: ReadonlyMap<string, HeaderSecret>;
}

export interface Outsides {
  /** Of one attempt. */
  of(of: OutsideOf): Outside;
  /** What the attempt is told of its secrets. */
  secretsFor(scope: Scope, install: Install): SecretsForGuest | undefined;
}

export function createOutsides(options: OutsideOptions): Outsides {
  const { store } = options;
  const ownOrigin = new URL(options.baseUrl).origin;
  /** Requests under way, at most as many as runs have calls open: an attempt that is made meanwhile waits for their answers. */
  const underWay = new Map<string, Promise<string>>();

  const permitted = ({ scope, install }: OutsideOf, request: GuestRequest): Outgoing => {
    const { manifest } = install;
    const allowed = permit(manifest.net ?? [], request.method, request.url);
    if (typeof allowed === 'string') throw denied(allowed);
    const { url, origin } = allowed;
    if (origin === ownOrigin) throw denied('That is this server itself; use ctx.');
    const reserved = Object.keys(request.headers).find(isReserved);
    if (reserved !== undefined) throw denied(`The header ${reserved} cannot be chosen by a plugin.`);
    const placeholders = placeholdersOf(options.sealing, scope, install);
    const inHeaders = findSecrets(manifest, placeholders, { ...request, url, origin });
    return { ...request, url, origin, net: allowed.request, inHeaders };
  };

  const answerOnce = async (of: OutsideOf, key: string, outgoing: Outgoing): Promise<string> => {
    const known = await findJournaled(store, of.scope, key);
    if (known) return known.answer ?? lost(outgoing);
    if (!of.sends)
      throw denied('A run that only simulates sends nothing, and no earlier run was answered this request.');
    const journal = journalOf({ ...options, scope: of.scope, run: of.run });
    const secrets = of.install.manifest.secrets
      ? await openSecrets(options, of.scope, of.install.id)
      : new Map<string, string>();
    const headers = headersOf(of, key, outgoing, secrets);
    of.meter.chargeEgress(Buffer.byteLength(outgoing.body ?? ''));
    const response = await send(options.egress, journal, key, { ...outgoing, headers });
    const answer = answerText(response, createRedact(secrets));
    await journal.keep(key, requestLine(outgoing), answer);
    // Once it is kept, so that the next day's attempt has it without asking again.
    of.meter.chargeEgress(Buffer.byteLength(answer));
    return answer;
  };

  const ofAttempt = (of: OutsideOf): Outside => {
    let fetches = 0;
    const occurrences = new Map<string, number>();
    return {
      async ask(asked) {
        requireCaller(of);
        if (++fetches > fetchesMax)
          throw new CallError('quota_exceeded', `A run makes at most ${fetchesMax} fetches.`);
        const outgoing = permitted(of, readRequest(asked));
        const args = canonical(outgoing);
        const occurrence = occurrences.get(args) ?? 0;
        occurrences.set(args, occurrence + 1);
        const key = journalKey(of.run, 'net.fetch', args, occurrence);
        const place = `${of.scope.workspaceId}/${key}`;
        const answering =
          underWay.get(place) ?? answerOnce(of, key, outgoing).finally(() => void underWay.delete(place));
        underWay.set(place, answering);
        return answering;
      },
    };
  };

  return {
    of: ofAttempt,
    secretsFor: (scope, install) => secretsForGuest(options.sealing, scope, install),
  };
}

/** The same text for the same request, whatever the secrets and their placeholders are at the moment. */
function canonical({ method, url, headers, body, inHeaders }: Outgoing): string {
  const named = Object.entries(headers).map(([header, value]) => {
    const secret = inHeaders.get(header);
    return [header.toLowerCase(), secret ? `{secret ${secret.name}}` : value] as const;
  });
  named.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return JSON.stringify([method, url, named, body]);
}

function requestLine({ method, url }: Outgoing): string {
  return `${method} ${url}`;
}

function headersOf(
  { install }: OutsideOf,
  key: string,
  { method, headers, inHeaders }: Outgoing,
  secrets: ReadonlyMap<string, string>,
): Record<string, string> {
  const sent: Record<string, string> = { ...headers };
  for (const [header, { name, request }] of inHeaders) {
    const secret = secrets.get(name);
    if (secret === undefined)
      throw new CallError(
        'not_found',
        `The secret ${name} is not set: tatami plugin secrets set ${install.pluginId} ${name}`,
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
  egress: Pick<Egress, 'send'>,
  journal: Journal,
  key: string,
  outgoing: Outgoing,
): Promise<EgressResponse> {
  const { method, url, headers, body, net } = outgoing;
  const isOnce = net.retry === 'never';
  if (isOnce && !(await journal.reserve(key, requestLine(outgoing)))) return lost(outgoing);
  try {
    return await egress.send({
      ...{ method, url, headers: { ...headers } },
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

/** JSON for the guest. Bodies are text in UTF-8. @throws CallError */
function answerText(
  { status, headers, body, truncated }: EgressResponse,
  redact: (text: string) => string,
): string {
  if (truncated) throw new CallError('quota_exceeded', `The answer is longer than ${answerBytesMax} bytes.`);
  const { 'content-encoding': encoding = 'identity' } = headers;
  // Unpacked, it may be of any size; as it is, nobody sees what it holds.
  if (encoding.toLowerCase() !== 'identity')
    throw denied(`The answer is encoded (${encoding.slice(0, 40)}), which was not asked for.`);
  const shown = Object.entries(headers).map(([name, value]) => [redact(name), redact(value)]);
  return JSON.stringify({ status, headers: shown, body: redact(new TextDecoder().decode(body)) });
}

/** An action checks this when it is called. Runs of later check it again: the plugin, or the rights of its caller, may be others. @throws CallError */
function requireCaller({ callerScopes }: OutsideOf): void {
  const { scope } = effectTable['outside-requests'];
  if (!callerScopes || callerScopes.includes(scope)) return;
  throw new CallError(
    'insufficient_scope',
    `Requests to other servers take the scope ${scope}, which whoever asked for this run does not have.`,
  );
}

function denied(message: string): CallError {
  return new CallError('egress_denied', message);
}

function lost(outgoing: Outgoing): never {
  throw denied(
    `${requestLine(outgoing)} was sent before, and its answer was lost. It is not sent again, as the manifest says retry: never.`,
  );
}

const codes: Readonly<Partial<Record<EgressError['code'], string>>> = {
  bad_url: 'egress_denied',
  bad_request: 'egress_denied',
  refused_address: 'egress_denied',
  timeout: 'deadline_exceeded',
  too_large: 'quota_exceeded',
};

/** As the guest sees it. */
function codeOf({ code }: EgressError): string {
  return codes[code] ?? 'unreachable';
}
