import { sameValue, type ChangeSet } from '../../../kernel/changes/change.ts';
import { getEntity, updated, isoTime } from '../../../kernel/changes/operations.ts';
import type { Created, Patch } from '../../../kernel/contract/contract.ts';
import type { Context } from '../../../kernel/context.ts';
import {
  expandPattern,
  namespacesIn,
  namespaceScopes,
  unsentType,
} from '../../../kernel/events/catalogue.ts';
import { makerOf, stillMayOp } from '../../people/index.ts';
import { EgressError } from '../../../platform/lib/egress/error.ts';
import { ApiError, invalidField } from '../../../platform/lib/errors/errors.ts';
import { isMasked } from '../../../platform/lib/secrets/masked-url.ts';
import { parseFilter, type FilterFields } from '../../../platform/lib/filter/filter.ts';
import type { CheckFilter } from '../../../kernel/resource/filter/filtering.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import { mintSecret } from '../../../platform/lib/secrets/tokens.ts';
import { sealSecret, type PreviousSecret, openAddress, sealAddress } from './secrets.ts';
import { webhook } from './contract.ts';
import { endpointModel, isForgiven, type Endpoint } from './model.ts';
import { Type, type Static } from 'typebox';
import { Closed, namedSchema } from '../../../platform/lib/schema.ts';
import { hourMs } from '../../../platform/lib/time/time.ts';

/** Maximum number of enabled endpoints, because each event is matched against all of them. */
const enabledMax = 100;

const countEnabled = tenantStatement<{ count: number }>(
  'endpoints.count_enabled',
  'SELECT count(*) AS count FROM endpoints WHERE workspace_id = :ws AND deleted_at IS NULL AND enabled = 1',
);
/** Returns a row only within the limit, so that two concurrent creations cannot exceed it. */
const haveCapacity = tenantStatement<{ count: number }>(
  'endpoints.have_capacity',
  `SELECT count(*) AS count FROM endpoints WHERE workspace_id = :ws AND deleted_at IS NULL AND enabled = 1
   HAVING count(*) <= :max`,
);

/** Services that endpoint operations need in addition to the context. */
export interface EndpointRules {
  /** @throws EgressError */
  checkUrl(url: string): Promise<void>;
  filterFields(eventType: string): FilterFields;
  readonly checkFilter: CheckFilter;
  /** Resets the failure count of an endpoint. */
  forgiveOp(scope: Scope, endpointId: string): Op;
  /** Resolves once a disabled endpoint has no open deliveries. */
  cancelOpen(scope: Scope, endpointId: string): Promise<void>;
  /** Returns the time of the last successful delivery in Unix milliseconds; null if there is none. */
  lastSucceededAt(scope: Scope, endpointId: string): Promise<number | null>;
}

export async function createEndpoint(
  ctx: Context,
  input: Created<typeof webhook>,
  rules: EndpointRules,
): Promise<ChangeSet> {
  const namespaces = checkEvents(ctx, input.events);
  await checkFilters(ctx, input.events, input.filter ?? null, rules);
  const capacityGuard = await requireCapacity(ctx);
  await checkUrl(input.url, rules);
  const now = ctx.nowMs();
  const id = ctx.ids.next(webhook.id);
  const secret = mintSecret();
  const change = endpointModel.create({
    id,
    address: sealAddress(ctx.sealing, ctx.workspaceId, id, input.url),
    description: input.description ?? '',
    events: input.events,
    namespaces,
    filter: input.filter ?? null,
    enabled: true,
    disabledReason: null,
    ordering: input.ordering ?? 'none',
    payloadVersion: input.payloadVersion ?? 'v1',
    secretSealed: sealSecret(ctx.sealing, ctx.workspaceId, id, secret),
    secretSince: now,
    previousSecrets: [],
    ...makerFields(ctx),
    sinceSequence: 0,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  });
  return {
    changes: [change],
    ops: [capacityGuard, stillMayOp(ctx)],
    body: { id, url: input.url, events: input.events, enabled: true, secret },
    status: 201,
    location: `${ctx.baseUrl}/api/v1/webhooks/${id}`,
  };
}

/**
 * The member or key that last changed the target or the selection of events owns the subscription. Every change
 * except disabling and describing therefore needs the scopes of creation. Enabling the endpoint or changing its
 * address resets its failure count.
 */
export async function updateEndpoint(
  ctx: Context,
  id: string,
  { url, ...patch }: Patch<typeof webhook>,
  ifMatch: number | null,
  rules: EndpointRules,
): Promise<ChangeSet> {
  const endpoint = await getEntity(ctx, endpointModel, id);
  const next = { ...endpoint, ...patch, ...addressAfter(ctx, endpoint, url) };
  const namespaces = steers(url, patch) ? checkEvents(ctx, next.events) : endpoint.namespaces;
  if (steers(url, patch)) await checkFilters(ctx, next.events, next.filter, rules, endpoint.filter);
  if (url !== undefined) await checkUrl(url, rules);
  const goesOn = next.enabled && !endpoint.enabled;
  const capacityGuard = goesOn ? [await requireCapacity(ctx)] : [];
  if (goesOn) await rules.cancelOpen(ctx.scope, id);
  const subscribed = patch.events === undefined ? {} : { namespaces };
  const storedPatch = { ...patch, ...subscribed, ...reasonAfter(patch), address: next.address };
  const plain = updated(ctx, endpointModel, endpoint, storedPatch, ifMatch);
  if (plain.changes.length === 0) return plain;
  const isSteered = steers(url, patch);
  const set = isSteered
    ? updated(ctx, endpointModel, endpoint, { ...storedPatch, ...makerFields(ctx) }, ifMatch)
    : plain;
  const forgiven = isForgiven(endpoint, next) ? [rules.forgiveOp(ctx.scope, id)] : [];
  return { ...set, ops: [...capacityGuard, ...forgiven, ...(isSteered ? [stillMayOp(ctx)] : [])] };
}

function makerFields(ctx: Context): Pick<Endpoint, 'createdBy' | 'createdWith'> {
  const { memberId, keyId } = makerOf(ctx);
  return { createdBy: memberId, createdWith: keyId };
}

type EndpointPatch = Omit<Patch<typeof webhook>, 'url'>;

/** Returns true if the patch changes the target or the selection of events. */
function steers(url: string | undefined, { events, filter, enabled }: EndpointPatch): boolean {
  return url !== undefined || events !== undefined || filter !== undefined || enabled === true;
}

function reasonAfter({ enabled }: EndpointPatch): Pick<Endpoint, 'disabledReason'> | undefined {
  if (enabled === undefined) return undefined;
  return { disabledReason: enabled ? null : 'The webhook was disabled by a request.' };
}

/** Returns the current address if the given one is the same. */
function addressAfter(ctx: Context, endpoint: Endpoint, url: string | undefined): Pick<Endpoint, 'address'> {
  if (url === undefined || url === openAddress(ctx.sealing, ctx.workspaceId, endpoint))
    return { address: endpoint.address };
  return { address: sealAddress(ctx.sealing, ctx.workspaceId, endpoint.id, url) };
}

/** Checks the read scope of each event type's namespace, as in the feed. Returns the namespaces. */
function checkEvents(ctx: Context, patterns: readonly string[]): string[] {
  const namespaces = new Set<string>();
  for (const [index, pattern] of patterns.entries()) {
    if (expandPattern(pattern).length === 0)
      throw invalidField(`events.${index}`, 'invalid_enum', unsentType(pattern));
    const covered = namespacesIn(pattern);
    for (const namespace of covered) namespaces.add(namespace);
    const needed = new Set(covered.map((namespace) => namespaceScopes[namespace]!));
    const missing = [...needed].filter((scope) => !ctx.scopes.has(scope));
    if (missing.length > 0)
      throw new ApiError(
        'insufficient_scope',
        `Subscribing to ${pattern} requires ${missing.join(', ')}, which the token does not have. Use a token with the scope.`,
      );
  }
  return [...namespaces];
}

/**
 * Rejects a filter that does not fit every subscribed type. Objects in a new filter must exist; an unchanged
 * filter may reference deleted objects.
 * @param before current filter of the endpoint
 */
async function checkFilters(
  ctx: Context,
  patterns: readonly string[],
  filter: unknown,
  rules: EndpointRules,
  before: unknown = null,
): Promise<void> {
  if (filter === null) return;
  const types = patterns.flatMap(expandPattern);
  const isKnown = sameValue(filter, before);
  const checked = new Set<FilterFields>();
  for (const type of types) {
    const fields = rules.filterFields(type);
    if (checked.has(fields)) continue;
    checked.add(fields);
    if (isKnown) parseFilter(filter, fields, 'filter', { wasTaken: true, of: type });
    else await rules.checkFilter(ctx, type, filter, 'filter');
  }
}

/** @returns the op that enforces the limit at commit. @throws ApiError conflict */
async function requireCapacity(ctx: Context): Promise<Op> {
  const row = await ctx.store.readOne(ctx.scope, countEnabled);
  if ((row?.count ?? 0) >= enabledMax)
    throw new ApiError(
      'conflict',
      `A workspace can have at most ${enabledMax} enabled webhooks. Disable or delete one first.`,
    );
  return tenantOp(ctx.scope, haveCapacity, { max: enabledMax }, { expectRows: 1 });
}

async function checkUrl(url: string, rules: EndpointRules): Promise<void> {
  if (isMasked(url))
    throw invalidField('url', 'invalid_format', {
      why: 'This address contains … in place of masked query values.',
      fix: 'Send the full address, or omit it.',
    });
  try {
    await rules.checkUrl(url);
  } catch (error) {
    if (error instanceof EgressError) throw invalidField('url', 'invalid_format', { why: error.message });
    throw error;
  }
}

const overlapHoursDefault = 24;
export const SecretRotate = namedSchema(
  'WebhookSecretRotate',
  Closed({
    overlapHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 168,
        description:
          'Hours during which deliveries are also signed with earlier secrets; default 24, 0 for none.',
      }),
    ),
  }),
);

/** Maximum number of earlier secrets, because each adds a signature to the headers of every delivery. */
const overlappingMax = 4;

/**
 * Replaces the signing secret. Deliveries stay signed with earlier secrets during the overlap, so that
 * receivers can switch in time. Spec: docs/spec/webhooks.md › Rotation.
 * @param lastSucceededAt returns the time of the last successful delivery to an endpoint, with any secret
 */
export async function rotateSecret(
  ctx: Context,
  id: string,
  { overlapHours = overlapHoursDefault }: Static<typeof SecretRotate>,
  ifMatch: number | null,
  lastSucceededAt: (endpointId: string) => Promise<number | null>,
): Promise<ChangeSet> {
  const endpoint = await getEntity(ctx, endpointModel, id);
  const now = ctx.nowMs();
  const expiresAt = now + overlapHours * hourMs;
  const succeededAt = await lastSucceededAt(id);
  const replaced: PreviousSecret = {
    sealed: overlapHours === 0 ? null : Buffer.from(endpoint.secretSealed).toString('base64'),
    expiresAt,
    lastSucceededAt: succeededAt !== null && succeededAt >= endpoint.secretSince ? succeededAt : null,
  };
  // The overlap also bounds all earlier secrets: a rotation without overlap ends every one of them.
  const earlier = endpoint.previousSecrets
    .map((secret) => ({ ...secret, expiresAt: Math.min(secret.expiresAt, expiresAt) }))
    .filter((secret) => secret.sealed !== null && secret.expiresAt > now);
  if (earlier.length >= overlappingMax)
    throw new ApiError(
      'conflict',
      `${overlappingMax} earlier secrets are still in use. Wait until one expires, or rotate with overlapHours 0 to end all of them.`,
    );
  const secret = mintSecret();
  const set = updated(
    ctx,
    endpointModel,
    endpoint,
    {
      secretSealed: sealSecret(ctx.sealing, ctx.workspaceId, id, secret),
      secretSince: now,
      previousSecrets: [replaced, ...earlier],
    },
    ifMatch,
  );
  return {
    ...set,
    body: { id, secret, previousSecretExpiresAt: isoTime(expiresAt), version: endpoint.version + 1 },
  };
}
