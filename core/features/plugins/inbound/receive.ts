// Handles requests to inbound routes of plugins: finds the route, verifies the signature, and waits for the
// answer of a run. An unknown URL and a missing or disabled plugin give the same response, so that a sender
// cannot distinguish them.
import type { Services } from '../../../kernel/context.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import type { RawRequest, RawAnswer } from '../../../kernel/http/route.ts';
import { ApiError, rateLimited } from '../../../platform/lib/errors/errors.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { scopeOf, type Scope } from '../../../platform/store/store.ts';
import type { Usage } from '../budgets/usage.ts';
import { deferringBudget, secondsLeft } from '../budgets/waits.ts';
import { declared } from '../installs/manifest.ts';
import type { Install } from '../installs/model.ts';
import { inboundPerMinuteMax, type RunRate } from '../planning/limits.ts';
import type { Registry } from '../installs/registry.ts';
import { type RunEnds, answerOf } from './answer.ts';
import type { RunError } from '../runs/errors.ts';
import type { RunInput } from '../runs/job.ts';
import { findRun, uncausedRun, type NewRun } from '../runs/rows.ts';
import { isOpen, queueRunOps } from '../runs/state.ts';
import { findByToken, openSealed, takeSignatureOps, type OpenRoute } from './rows.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';

const waitMs = 10_000;
const bodyMax = 65_536;
/** Limits of the query: number of parameters, and characters of each. */
const queryMax = 50;
const textMax = 1_000;
const passedOn =
  /^(content-type|user-agent|webhook-(id|timestamp)|x-[a-z0-9-]{1,40}-(event|delivery|topic|id|timestamp))$/;
const textTypes =
  /^(application\/(json|x-www-form-urlencoded|xml|[a-z0-9.+-]+\+(json|xml))|text\/[a-z0-9.+-]+)\s*(;|$)/i;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const plain = 'text/plain; charset=utf-8';
const unsendable: RawAnswer = {
  status: 502,
  contentType: plain,
  body: 'The plugin returned an invalid response. Ask an administrator of the workspace to check the runs of the plugin.\n',
};

export interface ReceiveOptions {
  readonly services: Services;
  readonly registry: Registry;
  readonly queue: WorkQueue;
  readonly ends: RunEnds;
  readonly usage: Usage;
  /** Limit of requests per install. */
  readonly rate: RunRate;
}

interface InboundTarget {
  readonly scope: Scope;
  readonly install: Install;
  readonly open: OpenRoute;
  readonly route: NonNullable<Install['manifest']['routes']>[string];
}

/** @throws ApiError not_found, rate_limited, payload_too_large, unsupported_media_type, malformed_request, unauthorized */
export async function receive(
  options: ReceiveOptions,
  { token, name }: { readonly token: string; readonly name: string },
  rawRequest: RawRequest,
): Promise<RawAnswer> {
  const target = await findRoute(options, token, name, rawRequest.method);
  const limitedMs = options.rate.take(target.install.id);
  if (limitedMs !== null)
    throw rateLimited(
      `A plugin accepts ${inboundPerMinuteMax} requests per minute. Retry after the time in \`Retry-After\`.`,
      limitedMs / 1000,
    );
  const bytes = await rawRequest.read(Math.min(target.route.maxBody ?? bodyMax, bodyMax));
  const signature = signatureOf(options, target, rawRequest, bytes);
  const input: RunInput = { event: requestOf(name, rawRequest, bytes) };
  await requireBudget(options, target);
  const run = await queue(options, target, input, signature);
  await options.ends.wait(target.scope, run.id, waitMs);
  return answer(options, target, run.id);
}

async function findRoute(
  { services: { store }, registry }: ReceiveOptions,
  token: string,
  name: string,
  method: string,
): Promise<InboundTarget> {
  const open = await findByToken(store, token);
  if (!open || open.name !== name) throw new ApiError('not_found');
  const scope = scopeOf(open.workspace_id, open.install_id);
  const install = await registry.active(scope, open.install_id);
  const route = install && declared(install.manifest.routes, name);
  if (!route || route.method !== method) throw new ApiError('not_found');
  return { scope, install, open, route };
}

/** Largest difference between the signature's time and now, in seconds. */
const windowSeconds = 300;

const headerCharsMax = 2_048;
const signaturesMax = 8;

/**
 * Verifies a signature in the scheme of outgoing webhooks (docs/spec/webhooks.md › Signature):
 * `X-Webhook-Signature: v1=<hex>[,v1=…],t=<unix>` over `<t>.<raw body>`.
 * @returns the valid signature as hex; null if there is none
 */
function goodSignature(
  header: string | null,
  body: Uint8Array,
  secret: string,
  nowMs: number,
): string | null {
  if (header === null || header.length > headerCharsMax) return null;
  const parts = header.split(',').map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2));
  const signatures = parts.filter((part) => /^v1=[0-9a-f]{64}$/.test(part)).map((part) => part.slice(3));
  const [time = ''] = times;
  if (
    times.length !== 1 ||
    !/^\d{1,12}$/.test(time) ||
    signatures.length === 0 ||
    signatures.length > signaturesMax
  )
    return null;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  const isGood = signatures.map((one) => timingSafeEqual(Buffer.from(one, 'hex'), expected)).includes(true);
  // The signature covers the time, so the time is trusted only if the signature is valid.
  const isInTime = Math.abs(Math.floor(nowMs / 1000) - Number(time)) <= windowSeconds;
  return isGood && isInTime ? expected.toString('hex') : null;
}

/** Returns the valid signature; null for a public route. @throws ApiError unauthorized */
function signatureOf(
  { services }: ReceiveOptions,
  { scope, open, route }: InboundTarget,
  { headers }: RawRequest,
  bytes: Uint8Array,
): string | null {
  if (route.auth === 'public') return null;
  const { secret } = openSealed(services.sealing, scope.workspaceId, open);
  const header = headers.get('x-webhook-signature');
  const good = secret === null ? null : goodSignature(header, bytes, secret, services.nowMs());
  if (good === null) throw unsigned();
  return good;
}

function unsigned(): ApiError {
  return new ApiError(
    'unauthorized',
    'The signature is missing or invalid. Send X-Webhook-Signature: v1=<hex>,t=<unix>, signed with the secret of this route at most 300 seconds ago. Sign every request separately.',
  );
}

/**
 * Refuses the request before the run is queued and the signature recorded, so that the sender can repeat it
 * unchanged. The message does not reveal the budget to the sender.
 * @throws ApiError rate_limited
 */
async function requireBudget(
  { services, usage }: ReceiveOptions,
  { scope, install }: InboundTarget,
): Promise<void> {
  const spent = await deferringBudget(usage, scope, install);
  if (!spent) return;
  throw rateLimited(
    'Daily limit of this route reached. Retry after the time in `Retry-After`.',
    secondsLeft(spent, services.nowMs()),
  );
}

/** Returns the handler's input. @throws ApiError unsupported_media_type, malformed_request */
function requestOf(
  name: string,
  { method, headers, query }: RawRequest,
  bytes: Uint8Array,
): RunInput['event'] {
  const coding = headers.get('content-encoding');
  const isText = bytes.length === 0 || textTypes.test(headers.get('content-type') ?? '');
  if (!isText || (coding !== null && coding !== 'identity'))
    throw new ApiError(
      'unsupported_media_type',
      'The body must be text with its Content-Type and without Content-Encoding.',
    );
  const passed = [...headers].filter(([header, value]) => passedOn.test(header) && value.length <= textMax);
  const queryPairs = [...query].filter(([key, value]) => key.length + value.length <= textMax);
  if (queryPairs.length > queryMax || queryPairs.length < [...query].length)
    throw new ApiError(
      'malformed_request',
      `The query can have at most ${queryMax} parameters of ${textMax} characters each. Send other data in the body.`,
    );
  return {
    route: name,
    method,
    headers: Object.fromEntries(passed),
    query: Object.fromEntries(queryPairs),
    body: textOf(bytes),
  };
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ApiError('malformed_request', 'The body must be valid UTF-8.');
  }
}

/** @throws ApiError unauthorized for a signature that was used before */
async function queue(
  { services: { store, ids, nowMs }, queue: runs }: ReceiveOptions,
  { scope, install, open }: InboundTarget,
  input: RunInput,
  signature: string | null,
): Promise<NewRun> {
  const id = ids.next(idPrefixes.run);
  const now = nowMs();
  const run: NewRun = {
    ...uncausedRun(id, install, { kind: 'route', name: open.name }, now),
    inputJson: JSON.stringify(input),
  };
  const expiresAt = now + 2 * windowSeconds * 1000;
  const once =
    signature === null ? [] : takeSignatureOps(scope, open.id, signature, { nowMs: now, expiresAt });
  const outcome = await store.commit([...once, ...queueRunOps(runs, scope, run, now)]);
  if (outcome.ok) return run;
  if (outcome.reason === 'duplicate' && outcome.op < once.length) throw unsigned();
  throw new Error(`The run of a route was not queued: ${outcome.message}`);
}

async function answer(
  { services: { store } }: ReceiveOptions,
  { scope }: InboundTarget,
  id: string,
): Promise<RawAnswer> {
  const run = await findRun(store, scope, id);
  if (!run || isOpen(run)) return { status: 202, contentType: plain, body: '' };
  if (run.status === 'succeeded' || run.status === 'proposed') {
    const response = answerOf(run.result_json === null ? null : JSON.parse(run.result_json));
    return 'unsendable' in response ? unsendable : response;
  }
  const { code } = JSON.parse(run.error_json ?? '{}') as Partial<RunError>;
  return code === 'invalid_result'
    ? unsendable
    : {
        status: 500,
        contentType: plain,
        body: 'The plugin failed. Ask an administrator of the workspace to check the runs of the plugin.\n',
      };
}
